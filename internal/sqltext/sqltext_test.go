package sqltext

import "testing"

func TestWord(t *testing.T) {
	for statement, want := range map[string]string{
		"SELECT 1": "select", " \n(select 1)": "select", "/* x */ -- y\nInsert into t": "insert", "": "other", "1": "other", "/*": "other", "--": "other", "\xff": "other",
		"with_a_name_that_is_longer_than_32_bytes": "with_a_name_that_is_longer_than_3",
	} {
		want = want[:min(len(want), 32)]
		if got := Word(statement); got != want {
			t.Errorf("Word(%q) = %q, want %q", statement, got, want)
		}
	}
}

func TestNormal(t *testing.T) {
	for statement, want := range map[string]string{
		"select  a from t where b = 'x' and c=5": "select a from t where b = ? and c=?",
		"insert into t values (1, 'it''s', 3)":   "insert into t values (...)",
		"select 1 -- one\n+ 2 /* two */":         "select ? + ?",
	} {
		if got := Normal(statement); got != want {
			t.Errorf("Normal(%q) = %q, want %q", statement, got, want)
		}
	}
}

func TestWithoutPasswords(t *testing.T) {
	for statement, want := range map[string]string{
		"select 'x'": "select 'x'",
		"CREATE USER u IDENTIFIED BY 'se\\'same'": "CREATE USER u IDENTIFIED BY '***'",
	} {
		if got, _ := WithoutPasswords([]byte(statement)); string(got) != want {
			t.Errorf("WithoutPasswords(%q) = %q, want %q", statement, got, want)
		}
	}
}
