def test_api_page_runs_an_operation_under_the_strict_policy(page):
    page.goto("/api/docs")
    page.get_by_role("button", name="GET /api/v1/estimate", exact=False).first.click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    page.locator(".live-responses-table .response-col_status", has_text="200").wait_for()
