package web

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestArmed: functions that are turned on and off are clauses after the rules, the last one for
// each.
func TestArmed(t *testing.T) {
	a := &armed{rules: "main.* # all"}
	for _, c := range []struct {
		name string
		on   bool
		want string
	}{
		{"main.f", false, "main.* # all\nfunc:main.f=off"},
		{"main.(*T).g", false, "main.* # all\nfunc:main.f=off\nfunc:main.(*T).g=off"},
		{"main.f", true, "main.* # all\nfunc:main.(*T).g=off\nfunc:main.f"},
		{"main.a;b#c&d=e\nf", true, "main.* # all\nfunc:main.(*T).g=off\nfunc:main.f\nfunc:main.a?b?c?d?e?f"},
	} {
		if a = a.turn(c.name, c.on); a.text() != c.want {
			t.Errorf("%s, %v: %q, not %q", c.name, c.on, a.text(), c.want)
		}
	}
	for rules, want := range map[string]string{"": "*=off", " off ": "*=off", "1": "*", "all": "*", "main.*": "main.*"} {
		if text := newArmed(rules).text(); text != want {
			t.Errorf("%q is %q, not %q", rules, text, want)
		}
	}
	own := (&armed{program: []string{"main.f", "main.g"}}).turn("main.g", false)
	if want := "*=off\nfunc:main.f\nfunc:main.g\nfunc:main.g=off"; own.text() != want {
		t.Errorf("%q, not %q", own.text(), want)
	}
}

// post asks for a change, from a page of an origin unless that is "".
func post(t *testing.T, url, origin, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(b)
}

// TestControl: functions of a running program are turned on and off on the page, where that is
// allowed, and only by the page.
func TestControl(t *testing.T) {
	ctx := browser(t)
	cmd, _ := running(t, "server")
	pid := fmt.Sprint(cmd.Process.Pid)
	s := followed(t, pid, LiveOptions{Rules: "main.handle", Budget: 10, Keep: 64 << 20, Control: true})
	do(t, ctx, chromedp.Navigate(s.URL()+"#follow=5000000000&view=table"))
	row := func(name string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#table tbody tr")].find(r => r.cells[0].textContent === %q)`, name)
	}
	box := func(name string) string { return row(name) + `.cells[1].querySelector("input")` }
	calls := func(name string) string { return `+` + row(name) + `.cells[2].textContent.replaceAll(",", "")` }
	becomes(t, ctx, calls("main.handle")+` > 0 && `+box("main.handle")+`.checked && !`+box("main.parse")+`.checked`)
	shots(t, ctx, "control")

	// A function is turned on, which another tab sees, and one is turned off.
	other, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	do(t, other, chromedp.Navigate(s.URL()+"#follow=5000000000&view=table"))
	becomes(t, other, box("main.parse"))
	do(t, ctx, page.BringToFront(), chromedp.Evaluate(box("main.parse")+`.click()`, nil))
	becomes(t, ctx, calls("main.parse")+` > 0 && `+box("main.parse")+`.checked && document.getElementById("control-note").textContent.startsWith("2 of ")`)
	becomes(t, other, box("main.parse")+`.checked`)
	do(t, ctx, chromedp.Evaluate(box("main.handle")+`.click()`, nil))
	becomes(t, ctx, `!`+box("main.handle")+`.checked && document.getElementById("rules").value === "main.handle\nfunc:main.parse\nfunc:main.handle=off"`)
	many := value[int](t, ctx, calls("main.parse"))
	becomes(t, ctx, calls("main.parse")+fmt.Sprintf(` > %d`, many+50)) // the table is newer
	few, many := value[int](t, ctx, calls("main.handle")), value[int](t, ctx, calls("main.parse"))
	becomes(t, ctx, calls("main.parse")+fmt.Sprintf(` > %d`, many+50))
	if n := value[int](t, ctx, calls("main.handle")); n != few {
		t.Errorf("main.handle, which is off, has %d calls, and had %d", n, few)
	}

	// Rules are typed. What is wrong with them is said, and changes nothing.
	typed := func(rules string) {
		do(t, ctx, chromedp.Evaluate(fmt.Sprintf(`(() => { const e = document.getElementById("rules"); e.focus(); e.value = %q; e.form.requestSubmit(); })()`, rules), nil))
	}
	typed("main.save=nonsense")
	becomes(t, ctx, `document.getElementById("control-note").classList.contains("bad") && document.getElementById("control-note").textContent.includes("nonsense") && `+box("main.parse")+`.checked`)
	shots(t, ctx, "control-wrong")
	typed("main.save")
	becomes(t, ctx, calls("main.save")+` > 0 && document.getElementById("control-note").textContent.startsWith("1 of ") && !`+box("main.parse")+`.checked`)
	typed("")
	becomes(t, ctx, `document.getElementById("control-note").textContent.startsWith("0 of ") && document.getElementById("rules").value === "*=off"`)

	origin := strings.TrimSuffix(s.URL(), "/"+s.token+"/")
	for _, c := range []struct {
		url, origin, body string
		status            int
	}{
		{s.URL() + "armed", origin, `{"function":"main.handle","on":true}`, 200},
		{s.URL() + "armed", "", `{"function":"main.handle","on":true}`, 403},
		{s.URL() + "armed", "http://evil.example", `{"function":"main.handle","on":true}`, 403},
		{origin + "/armed", origin, `{"function":"main.handle","on":true}`, 403},
		{s.URL() + "armed", origin, `{`, 400},
		{s.URL() + "armed", origin, `{}`, 400},
		{s.URL() + "armed", origin, `{"rules":"` + strings.Repeat("x", changeMax) + `"}`, 400},
		{s.URL() + "status", origin, `{}`, 405},
	} {
		if status, answer := post(t, c.url, c.origin, c.body); status != c.status {
			t.Errorf("%s from %q, %.40s: %d, not %d: %s", c.url, c.origin, c.body, status, c.status, answer)
		}
	}

	// Without -control the page has nothing of it.
	reads := followed(t, pid, LiveOptions{Rules: "main.handle", Budget: 10, Keep: 64 << 20})
	if status, answer := post(t, reads.URL()+"armed", strings.TrimSuffix(reads.URL(), "/"+reads.token+"/"), `{"rules":"main.*"}`); status != 403 || !strings.Contains(answer, "-control") {
		t.Errorf("a page that only reads changes the program: %d %s", status, answer)
	}
	do(t, ctx, chromedp.Navigate(reads.URL()+"#follow=5000000000&view=table"))
	becomes(t, ctx, row("main.handle")+` && document.getElementById("control").hidden && !document.querySelector("#table tbody input")`)
	do(t, ctx, chromedp.Navigate("about:blank")) // before the server ends
}
