package console

import (
	"testing"
)

func TestDiffText(t *testing.T) {
	t.Parallel()
	const blobs = "ae21ebfcb1bd48c10bccb69aaebe2f0df2cbe838..e675b3773590107a8f7f32ab343a397e82f92963"
	const diff = "diff --git a/a b/a\nindex " + blobs + " 100644\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@ func x\n one\n-two\n--- three\n+\x1b[8mhid\u202eden\r\n+\xff\ndiff --git a/b b/b\n+++ b/b\n"
	none := func(string) string { return "" }
	for name, c := range map[string]struct {
		env  Env
		want string
	}{
		"pipe":     {Env{Getenv: none}, diff},
		"terminal": {Env{Terminal: true, ColorUI: "never", Getenv: none}, "diff --git a/a b/a\nindex ae21ebfcb1..e675b37735 100644\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@ func x\n one\n-two\n--- three\n+^[[8mhid<U+202E>den^M\n+\\xff\ndiff --git a/b b/b\n+++ b/b\n"},
		"colour": {Env{Terminal: true, Getenv: none}, "\x1b[1mdiff --git a/a b/a\x1b[m\n\x1b[1mindex ae21ebfcb1..e675b37735 100644\x1b[m\n\x1b[1m--- a/a\x1b[m\n\x1b[1m+++ b/a\x1b[m\n\x1b[36m@@ -1,3 +1,3 @@\x1b[m func x\n one\n\x1b[31m-two\x1b[m\n\x1b[31m--- three\x1b[m\n" +
			"\x1b[32m+^[[8mhid<U+202E>den^M\x1b[m\n\x1b[32m+\\xff\x1b[m\n\x1b[1mdiff --git a/b b/b\x1b[m\n\x1b[1m+++ b/b\x1b[m\n"},
	} {
		if got := DiffText(c.env, diff); got != c.want {
			t.Errorf("%s: %q\nwant %q", name, got, c.want)
		}
	}
}
