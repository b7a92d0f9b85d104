def test_api_page_shows_the_operations_under_the_strict_policy(page):
    page.goto("/api/docs")
    page.get_by_role("button", name="GET /api/v1/estimate", exact=False).first.wait_for()


def test_admin_login_is_silent(page):
    page.goto("/admin/login/")
    page.get_by_label("Username").fill("somebody")
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Password").wait_for()
