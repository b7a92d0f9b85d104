// The calculator: the form's widgets, the live answer, what stays as it was between answers.
import "./slider.js";
import "./stepper.js";
import "./picker.js";
import "./keep.js";
import "./fields.js";
import "./blocks.js";
import "./folds.js";
import "./later.js";
import "./live.js";
import "./sections.js";
import "./later-sections.js";
import "./speed.js";
import "./feel.js";
import "./dock.js";
import "./charts.js";
