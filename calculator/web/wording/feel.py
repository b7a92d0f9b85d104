"""The text that the token-speed simulator writes."""

from calculator.web.wording.speech import gettext_lazy as _

FEEL = _(
    "A ship is loaded twice: once on paper, once at the quay. On paper the mate draws every hold to scale and puts the "
    "heavy cargo lowest. Steel goes to the bottom, grain above it, and what must leave first goes in last. A line on the "
    "hull says how deep the ship may lie, in summer and in winter, in salt water and in fresh. Nobody argues with the "
    "line. If the plan crosses it, something stays ashore, or a larger ship is asked for.\n\n"
    "Then the cranes begin. How fast they work depends on the slowest part of the chain: a wide hatch is of no use when "
    "the lorries are late, and ten lorries wait in vain before one narrow gate. Two cranes on one hold stand in each "
    "other’s way. Two cranes on two holds are twice as fast, until the quay is full. A good foreman watches for the part "
    "that everybody waits for, and puts the next crane there and nowhere else.\n\n"
    "At the end the mate walks along the quay and reads the marks at the bow and at the stern. They are where the paper "
    "said they would be, give or take a hand’s breadth, and that hand’s breadth was on the paper too."
)
"""Some 220 words of our own, neutral in content; a pause between paragraphs where a line is left free."""
