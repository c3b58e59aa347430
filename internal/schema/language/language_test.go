package language

import (
	"fmt"
	"strings"
	"testing"
)

// names knows one table, t with the columns n, text and day, and the view v of it.
type names struct{}

func (names) Database() string                  { return "db" }
func (names) Variable(string) (any, error)      { return int64(7), nil }
func (names) UserVariable(string) (any, Kind)   { return "x", String.Kind(0) }
func (names) Value(function string) (any, bool) { return "me@here", function == "user" }

func (names) View(_, table string) (*View, error) {
	if table == "v" {
		return &View{Name: "v", Database: "db", Definition: "SELECT n FROM t", Columns: []string{"m"}}, nil
	}
	return nil, nil
}

func (names) Columns(_, table string) []Column {
	if table == "v" {
		return []Column{{Name: "m", Kind: KindOf("bigint")}}
	}
	return []Column{{Name: "n", Kind: KindOf("bigint")}, {Name: "text", Kind: KindOf("varchar(10)")}, {Name: "day", Kind: KindOf("date")}}
}

// TestPlan: queries become those of SQLite, whose columns have types.
func TestPlan(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT n, text T, day FROM t WHERE n = '1' LIMIT 2, 1": "SELECT `n`, `text` AS `T`, `day` FROM `db`.`t` WHERE `n` = '1' COLLATE NOCASE LIMIT 1 OFFSET 2 [{n bigint} {T longtext} {day date}]",
		"SELECT 7 / 2, text + 1 FROM other.t":                   "SELECT quotient(7, 2, 9) AS `7 / 2`, number(`text`) + 1 AS `text + 1` FROM `other`.`t` [{7 / 2 decimal(65,4)} {text + 1 double}]",
		"SELECT *, USER(), @@port, @a FROM v":                   "SELECT *, 'me@here' AS `USER()`, 7 AS `@@port`, 'x' AS `@a` FROM (WITH `` (`m`) AS (SELECT `n` FROM `db`.`t`) SELECT * FROM ``) AS `v` [{m bigint} {USER() } {@@port bigint} {@a longtext}]",
	} {
		st, err := Read(query, nil)
		if err != nil {
			t.Fatal(err)
		}
		q, err := st.Query(0)
		if err != nil {
			t.Fatal(err)
		}
		p, err := q.Plan(names{})
		if err != nil {
			t.Fatal(err)
		}
		got := p.Text + " ["
		for i, c := range p.Columns {
			got += strings.Repeat(" ", min(i, 1)) + fmt.Sprintf("{%s %s}", c.Name, c.Kind.Name())
		}
		if got += "]"; got != want {
			t.Errorf("%s:\n%s\nwant\n%s", query, got, want)
		}
	}
}

// TestSplit: statements end at semicolons, but not at those in quotes and comments.
func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "|",
		"a":                         "|a",
		"a;":                        "a|",
		"a; b ;;c":                  "a,b|c",
		"select ';'; -- ;\n x":      "select ';'|-- ;\n x",
		"select 'open; ":            "|select 'open; ",
		"/* ; */ a; # b":            "/* ; */ a|",
		"select `a;b`, \"c\\\";\";": "select `a;b`, \"c\\\";\"|",
	} {
		list, rest := Split(text)
		if got := strings.Join(list, ",") + "|" + rest; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// BenchmarkNesting shows that the time for a token does not grow with the number of them.
func BenchmarkNesting(b *testing.B) {
	for _, h := range [][3]string{{"SELECT ", "(1),", "1"}, {"SELECT ", "(", "1"}, {"SELECT 1", ", 1 % 2", ""}, {"SELECT ", "'a' ", ""}} {
		for _, n := range []int{1000, 10000, 100000} {
			b.Run(fmt.Sprintf("%s/%d", h[1], n), func(b *testing.B) {
				text := h[0] + strings.Repeat(h[1], n) + h[2]
				for b.Loop() {
					st, err := Read(text, nil)
					if err != nil {
						b.Fatal(err)
					}
					if q, err := st.Query(0); err == nil {
						q.Plan(names{})
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/repeat")
			})
		}
	}
}
