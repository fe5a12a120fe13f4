package secrets

import (
	"strings"
	"testing"
)

// The samples are put together at run time, so that no scanner takes this file for a leak.
func TestRedact(t *testing.T) {
	t.Parallel()
	b62 := "a8Zk3LqP0xWv7TnR5bYc2MdJ9hGf4sEu1oQi"
	tests := []struct{ kind, secret, text string }{
		{"private-key", "MIIEow", "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEow\n-----END RSA PRIVATE" + " KEY-----\n"},
		{"private-key", "b3Blbn", "-----BEGIN OPENSSH PRIVATE" + " KEY-----\nb3Blbn (torn"},
		{"aws-key", "IOSFODNN7EXAMPLE", "id AK" + "IAIOSFODNN7EXAMPLE here"},
		{"github-token", b62, "push with gh" + "p_" + b62},
		{"github-token", b62, "github" + "_pat_" + b62},
		{"anthropic-key", b62, "x-api-key: sk-" + "ant-api03-" + b62},
		{"api-key", b62, `use "sk-` + b62 + `"`},
		{"slack-token", "1234567890-abc", "xo" + "xb-1234567890-abc"},
		{"jwt", "c2lnbmF0dXJl", "Bearer ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"},
		{"private-key", "MIGHAg", "-----BEGIN PRIVATE" + " KEY-----\nMIGHAg\nxyz\n-----END PRIVATE" + " KEY-----"},
		{"private-key", "lQOYBF", "-----BEGIN PGP PRIVATE" + " KEY BLOCK-----\nlQOYBF\n-----END PGP PRIVATE" + " KEY BLOCK-----"},
		{"api-key", b62, "sk-" + "proj-" + b62},
		{"github-token", b62, "gh" + "s_" + b62},
		{"gitlab-token", b62, "gl" + "pat-" + b62},
		{"stripe-key", b62, "sk" + "_live_" + b62},
		{"slack-webhook", "B0123456/" + b62, "https://hooks.slack" + ".com/services/T0123456/B0123456/" + b62},
		{"google-key", b62[:35], "AI" + "za" + b62[:35]},
		{"google-token", b62, "ya" + "29." + b62},
		{"registry-token", b62, "np" + "m_" + b62},
		{"url-password", "s3cretpass", "postgres://app:s3cret" + "pass@db.internal/x"},
		{"secret", "hunter2hunter9", `API` + `_KEY = "hunter2hunter9"`},
		{"secret", "p4ssw0rd!", `"password"` + `: 'p4ssw0rd!'`},
		{"secret", b62, "CLIENT_SECRET=" + b62},
		{"secret", b62, `"password": "` + b62 + `"`},
		{"secret", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "API_TOKEN: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"},
		{"secret", b62, "export DEPLOY_KEY=" + b62},
		{"authorization", "QwErTyUiOpAs", "Authorization: QwErTyUi" + "OpAs"},
		{"authorization", "qwertyuiopa1", "Authorization: Bearer qwerty" + "uiopa1"},
	}
	for _, tt := range tests {
		got := string(Redact([]byte("before " + tt.text + " after")))
		if strings.Contains(got, tt.secret) || !strings.Contains(got, "[redacted:"+tt.kind+"]") {
			t.Errorf("%q: got %q, want it gone as %s", tt.text, got, tt.kind)
		}
		if !strings.HasPrefix(got, "before ") {
			t.Errorf("%q: the text around is lost: %q", tt.text, got)
		}
		if twice := string(Redact([]byte(got))); twice != got {
			t.Errorf("not idempotent: %q, then %q", got, twice)
		}
	}
}

func TestRedactLeavesAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"blob 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b and tree e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
		"idempotency_key: 01JD8Q2W3E4R5T6Y7V8A9S0DFG",
		"BLOB_KEY=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
		"run-01JD8Q2W3E4R5T6Y7V8A9S0DFG.jsonl",
		"rotate-the-client-secret: op-01JD8Q2W3E4R5T6Y7V8A9S0DFG",
		"The password is changed every ninety days by the editor on duty.",
		"password: correct-horse-battery-staple-and-more",
		"a token is an amount of text; tokens: 128000",
		"secret: ${{ secrets.NPM_TOKEN }}",
		"token = config/keys/v2/2024/current",
		"token: process.env.GITHUB_TOKEN",
		"a risk-assessment-of-the-whole-project-2026",
		"see the sk-learn-style-naming-of-modules page",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
		"api_key=xxxxxxxxxxxxxxxx1111",
		"CHANGES in v1.2.3-rc.1+build.20260101",
		"[redacted:secret]",
		"password = \"changeme123\"",
		"API_KEY = \"your-api-key-1\"",
		"password: \"${DB_PASS_1}\"",
		"password: \"correcthorse\"",
		"password: \"aaaaaaaa1\"",
		"Authorization: QWERTYUIOPASD",
		"Authorization: Qwertyuiopasd",
		"Authorization: qwertyuiopasd",
		"Authorization: aaaaaaaaaaaa1",
		"Authorization: Bearer your-token-123",
		"Authorization: Bearer example-4f8a1c",
		"password = \"hunter\"",
		"token = \"aaaaaaaa1\"",
		"https://user:pass@example.org",
		"http://host:8080/path@2",
		"ssh://git@github.com/x/y.git",
		"sk_test_4eC39HqLyjWDarjtT1zdp7dc",
		"npm_config_registry",
		"the AIza prefix",
		"glpat-short",
	} {
		if got := string(Redact([]byte(text))); got != text {
			t.Errorf("got %q, want %q untouched", got, text)
		}
	}
}

// A credential is found where only the bytes around it or between its letters are
// other than a reader sees: what is printed and stored drops those.
func TestRedactViews(t *testing.T) {
	t.Parallel()
	b62 := "a8Zk3LqP0xWv7TnR5bYc2MdJ9hGf4sEu1oQi"
	key := "gh" + "p_" + b62
	for text, want := range map[string]string{
		"\x1b[32m" + key + "\x1b[0m":  "\x1b[32m[redacted:github-token]\x1b[0m",
		"\u009b1m" + key:              "\u009b1m[redacted:github-token]",
		"[1;32m" + key + "[0m":        "[1;32m[redacted:github-token][0m",
		"\x1b[32msk-" + "proj-" + b62: "\x1b[32m[redacted:api-key]",
		`\x1b[32m` + key:              `\x1b[32m[redacted:github-token]`,
		`\033[32m` + key:              `\033[32m[redacted:github-token]`,
		`\e[32m` + key:                `\e[32m[redacted:github-token]`,
		`\u001b[32m` + key:            `\u001b[32m[redacted:github-token]`,
		"password=\x1b[1m" + b62:      "password=\x1b[1m[redacted:secret]",
		"Authorization: \x1b[1mBearer\x1b[0m qwerty" + "uiopa1": "Authorization: \x1b[1mBearer\x1b[0m [redacted:authorization]",
		`"\u003c` + key + `\u003e"`:                             `"\u003c[redacted:github-token]\u003e"`,
		`"\\u003c` + key:                                        `"\\u003c[redacted:github-token]`,
		`"\u2192` + key:                                         `"\u2192[redacted:github-token]`,
		`"\b` + key + `\f`:                                      `"\b[redacted:github-token]\f`,
		`password\u003d` + b62:                                  `password\u003d[redacted:secret]`,
		`{\u0022password\u0022:\u0022` + b62 + `\u0022}`:        `{\u0022password\u0022:\u0022[redacted:secret]\u0022}`,
		"next=%2Fx%3Ftoken%3D" + key + "%26y":                   "next=%2Fx%3Ftoken%3D[redacted:github-token]%26y",
		"token%3D" + b62:                                        "token%3D[redacted:secret]",
		"gh\u200bp_" + b62[:9] + "\u202e" + b62[9:] + "\u200b":  "[redacted:github-token]\u200b",
		"g\x00h\x00p\x00_\x00" + b62:                            "[redacted:github-token]",
		key[:10] + "\x1b[m" + key[10:]:                          "[redacted:github-token]",
		key[:10] + "\x1b[1m" + key[10:] + "\x1b[0m!":            "[redacted:github-token]\x1b[0m!",
		`gh\u200bp_` + b62:                                      `[redacted:github-token]`,
		`gh\u0070_` + b62:                                       `[redacted:github-token]`,
		"é" + key:                                               "é[redacted:github-token]",
		"[x](y) 50% a\\b é 漢字 [3mm]":                            "[x](y) 50% a\\b é 漢字 [3mm]",
		"\x1b[1mplain\x1b[0m \\n\\t%20 \u200b":                  "\x1b[1mplain\x1b[0m \\n\\t%20 \u200b",
	} {
		if got := string(Redact([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if got := RedactText(text); got != want {
			t.Errorf("%q: got %q as a text, want %q", text, got, want)
		}
		if twice := string(Redact([]byte(want))); twice != want {
			t.Errorf("not idempotent: %q, then %q", want, twice)
		}
	}
	if got := string(RedactLines([]byte("a\n\x1b[1mtoken:\n\x1b[0m" + key + "\nb"))); strings.Count(got, "\n") != 3 || strings.Contains(got, b62) {
		t.Errorf("lines: %q", got)
	}
}

// What one look finds parts the words of the next, and what stands for a credential
// is read like one that still stands there.
func TestRedactOnce(t *testing.T) {
	t.Parallel()
	aws, jwt := "AK"+"IAQ3EXAMPLE7ZLDWN5", "ey"+"JhbGciOiJIUzI1NiJ9.ey"+"JzdWIiOiIxIn0."
	for text, want := range map[string]string{
		aws + `\u0041` + aws[1:]:                       "[redacted:aws-key][redacted:aws-key]",
		`\e` + aws + "\u00ad" + aws:                    `\e[redacted:aws-key]` + "\u00ad[redacted:aws-key]",
		jwt + "sk-\x1b" + aws:                          jwt + "sk-\x1b[redacted:aws-key]",
		jwt + "\x1b[-----BEGIN PRIVATE" + " KEY-----x": jwt + "\x1b[[redacted:private-key]",
		"[redacted:" + aws + "]":                       "[redacted:[redacted:aws-key]]",
	} {
		got := string(Redact([]byte(text)))
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if twice := string(Redact([]byte(got))); twice != got {
			t.Errorf("not idempotent: %q, then %q", got, twice)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("token=abc0123456789def9")
	f.Add("-----BEGIN PRIVATE" + " KEY-----")
	f.Add("%74oken\\u003d\x1b[1mabc0123\u200b456789def9[0m\\n")
	f.Add("eyJhbGciOi" + "JIUzI1NiJ9.eyJzdWIiOiIxIn0.\x1b[AK" + "IAQ3EXAMPLE7ZLDWN5\\u0041KIAQ3EXAMPLE7ZLDWN5\\e")
	f.Fuzz(func(t *testing.T, s string) {
		once := string(Redact([]byte(s)))
		if twice := string(Redact([]byte(once))); twice != once {
			t.Errorf("not idempotent: %q, then %q", once, twice)
		}
		if text := RedactText(s); text != once {
			t.Errorf("as a text %q, as bytes %q", text, once)
		}
	})
}

// TestShortestKey holds that a text is not too short for a credential that is all of it.
func TestShortestKey(t *testing.T) {
	t.Parallel()
	key := "sk-" + "Zx81Qw90Er72Ty63Ui54"
	for text, want := range map[string]string{
		key: "[redacted:api-key]", "ta" + key: "ta" + key, "use " + key: "use [redacted:api-key]", key[:len(key)-1]: key[:len(key)-1], `\u0022` + key: `\u0022[redacted:api-key]`,
		"task-" + key: "task-" + key, "T_" + key: "T_" + key, "task-12:" + key: "task-12:[redacted:api-key]", `task-12\n` + key: `task-12\n[redacted:api-key]`,
	} {
		if got := RedactText(text); got != want || string(Redact([]byte(text))) != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestHintsHideNothing holds that looking for a shape's words first changes
// nothing: what the pattern alone finds is found.
func TestHintsHideNothing(t *testing.T) {
	t.Parallel()
	for _, row := range pieces(t, "testdata/planted.tsv") {
		b := []byte(strings.ReplaceAll(strings.Join(row[1:], ""), "|", ""))
		hits := findHints(lowerASCII(b))
		for i, s := range shapes() {
			if s.re == nil || hits == nil {
				continue
			}
			if m := s.re.compiled().FindSubmatch(b); m != nil && (s.ok == nil || s.ok(m[len(m)-1])) && len(s.findMatches(b, lowerASCII(b), hits[i])) == 0 {
				t.Errorf("%s: the words of %s hide it", b, s.kind)
			}
		}
	}
}

func TestAdded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ before, now, want string }{
		{"a\nb\n", "a\nc\nb\n", "c\n"},
		{"a\nlast", "a\nlast\nmore\n", "more\n"}, // a last line that did not end
		{"a\r\n", "a\n", ""},
		{"", "a\n", "a\n"},
	} {
		if got := string(AddedLines([]byte(tt.now), [][]byte{[]byte(tt.before)})); got != tt.want {
			t.Errorf("%q to %q adds %q, want %q", tt.before, tt.now, got, tt.want)
		}
	}
}
