package redact_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ftrace-wrap/ftrace-wrap/internal/redact"
)

func TestSecret(t *testing.T) {
	for _, test := range []struct {
		pattern string
		secret  string // names, with blanks between
		plain   string
	}{
		{redact.Default,
			"password Passwd userPassword PASSW passw token Token accessToken id_token Authorization Proxy-Authorization Set-Cookie cookie_jar " +
				"apikey apiKey APIKey api_key api-key api.key X-Api-Key x_api__key private privateKey private_key PRIVATE-KEY client_secret ClientSecret",
			"user name pass key api keyapi tok privat authorize ap_ikei paswsord p"},
		{"card|pin-code", "Card cardNumber PINCode pin_code pin.code", "car pin code password"},
		{"ключ", "ключ мой_ключ", "клю"},
		{"", "", "password token"},
	} {
		for _, name := range strings.Fields(test.secret) {
			if !redact.Secret(test.pattern, name) {
				t.Errorf("Secret(%q, %q) = false", test.pattern, name)
			}
		}
		for _, name := range append(strings.Fields(test.plain), "", "_") {
			if redact.Secret(test.pattern, name) {
				t.Errorf("Secret(%q, %q) = true", test.pattern, name)
			}
		}
	}
	if !redact.Secret("apikey", "my api key") {
		t.Error("blanks count")
	}
}

func TestValid(t *testing.T) {
	for pattern, want := range map[string]bool{
		redact.Default: true, "pin": true, "pin|card-number": true, "API_KEY|a b": true, "ключ": true,
		"": false, "|": false, "pin|": false, "|pin": false, "a||b": false, "_": false, "pin|-": false,
		"pass.*": false, "^token$": false, "a,b": false, "(a|b)": false, "a\nb": false, "a=b": false,
	} {
		if got := redact.Valid(pattern); got != want {
			t.Errorf("Valid(%q) = %v", pattern, got)
		}
	}
}

func TestParse(t *testing.T) {
	for setting, want := range map[string]string{"": redact.Default, "on": redact.Default, "off": "", "pin|card": "pin|card", "pass.*": redact.Default} {
		if got, ok := redact.Parse(setting); got != want || ok != (setting != "pass.*") {
			t.Errorf("Parse(%q) = %q, %v", setting, got, ok)
		}
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct{ function, params, want string }{
		{"login", "user,password,a,b;err!;func(string,string,int,int)(error)", "password"},
		{"use", "token:Token,n;;func(Token,int)", "token"},
		{"getPassword", "name;,!;func(string)(string,error)", "0"},
		{"getTokens", ",;,_,!;func([]int,map[string]int)(map[string]int,func(int,bool)(a,b),error)", "0 1"},
		{"hasToken", ";;func()(bool)", ""},
		{"countTokens", ";,;func()(int,float64)", ""},
		{"resetToken", ";;func()", ""},
		{"checkToken", ";!;func()(error)", ""},
		{"tokenFails", ";token,tokenErr!;func()(string,error)", "token"},
		{"tokenOf", ";n;func()(string)", ""}, // the name of a result comes before the function's
		{"requireToken", "h;;!", "0"},
		{"cookies", "a,token;x,secret,y;func(int,string)(struct{A,B int},string,int)", "token secret"},
		{"main", ";;", ""},
		{"token", "", ""},
	} {
		names, got := redact.Names{Pattern: redact.Default, Function: test.function, Params: test.params}, []string{}
		for name, n, ok := names.Next(); ok; name, n, ok = names.Next() {
			if name == "" {
				name = strconv.Itoa(n)
			}
			got = append(got, name)
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s(%s): %q are secret, not %q", test.function, test.params, got, test.want)
		}
	}
}

// FuzzSecret compares with what the words of the documentation say, done at length.
func FuzzSecret(f *testing.F) {
	f.Add(redact.Default, "X-Api-Key")
	f.Add("a|ab_c", "xAB-c")
	f.Add("aab", "aaab")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		plain := func(s string) string {
			return strings.Map(func(r rune) rune {
				if 'A' <= r && r <= 'Z' {
					return r + 'a' - 'A'
				}
				return r
			}, strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(s))
		}
		got := redact.Secret(pattern, name) // whatever the pattern is, it returns
		if !redact.Valid(pattern) || !utf8.ValidString(pattern) || !utf8.ValidString(name) {
			return
		}
		want := false
		for alternative := range strings.SplitSeq(plain(pattern), "|") {
			want = want || strings.Contains(plain(name), alternative)
		}
		if got != want {
			t.Fatalf("Secret(%q, %q) = %v", pattern, name, got)
		}
	})
}

func BenchmarkSecret(b *testing.B) {
	const names = "ctx,db,user!,query,args;rows,err!;func(Context,*DB,string,...any)(*Rows,error)"
	for b.Loop() {
		redact.Secret(redact.Default, names)
	}
}
