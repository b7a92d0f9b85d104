def test_admin_is_silent_under_the_strict_policy(page, admin_user):
    page.goto("/admin/")
    page.get_by_label("Username").fill(admin_user.username)
    page.get_by_label("Password").fill("password")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", name="Site administration").wait_for()


def test_what_one_test_wrote_is_gone_in_the_next(django_user_model, db):
    assert django_user_model.objects.count() == 0
