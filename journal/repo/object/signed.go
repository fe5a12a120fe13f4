package object

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// Verify reports whether a commit has a good signature that git trusts, and whose. A commit without a signature is
// no error.
func (db *DB) Verify(ctx context.Context, oid OID) (ok bool, signer string, err error) {
	grade, signer, _, err := db.gradeSignature(ctx, oid)
	return grade == "G", signer, err
}

// VerifyBy says why a commit is not signed by its author, "" if it is. The key must be one of the SSH keys that an
// allowed-signers file (ssh-keygen(1)) gives to the author's address. Only the lines of that address count, at the
// time of the commit; keys that git is configured to trust do not. It needs ssh-keygen in PATH.
func (db *DB) VerifyBy(ctx context.Context, oid OID, signers []byte) (why string, err error) {
	c, err := db.Commit(oid)
	if err != nil {
		return "", err
	}
	if !c.Signed {
		return "is not signed", nil
	}
	lines := signersFor(c.Author.Email, signers)
	if len(lines) == 0 {
		return fmt.Sprintf("is signed, and no key is given to %s", c.Author.Email), nil
	}
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		return "", errors.New("ssh-keygen: not found in PATH, so no signature can be verified; install OpenSSH 8.2 or newer")
	}
	f, err := os.CreateTemp("", "odd-signers-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(lines)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	grade, _, key, err := db.gradeSignature(ctx, oid, "-c", "gpg.ssh.allowedSignersFile="+f.Name(), "-c", "gpg.ssh.program=ssh-keygen", "-c", "gpg.ssh.revocationFile=")
	if err == nil && (grade != "G" || !strings.HasPrefix(key, "SHA256:")) {
		why = fmt.Sprintf("is not signed by a key of %s", c.Author.Email)
	}
	return why, err
}

// gradeSignature returns git's letter for a commit's signature ("G" is good, "N" none), the signer, and the
// fingerprint of the key.
func (db *DB) gradeSignature(ctx context.Context, oid OID, options ...string) (grade, signer, key string, err error) {
	if err := oid.Check(); err != nil {
		return "", "", "", err
	}
	args := append(options, "log", "-1", "--no-show-signature", "--format=%G?%x00%GS%x00%GF", string(oid))
	out, err := db.git.Run(ctx, gitcmd.Call{Args: args, Read: true, Self: true})
	if err != nil {
		return "", "", "", err
	}
	parts := strings.Split(strings.TrimSpace(string(out))+"\x00\x00", "\x00")
	return parts[0], parts[1], parts[2], nil
}

// signersFor returns the lines of an allowed-signers file whose principals match an address, as ssh-keygen does:
// patterns may use * and ?, and ! excludes.
func signersFor(email string, signers []byte) []byte {
	var out strings.Builder
	for line := range strings.Lines(string(signers)) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' && email != "" && matchPrincipal(line, email) {
			out.WriteString(line + "\n")
		}
	}
	return []byte(out.String())
}

// literally protects what path.Match, other than ssh-keygen, takes for a pattern.
var literally = strings.NewReplacer("[", `\[`, `\`, `\\`)

// matchPrincipal reports whether a line's first field, quoted or not, matches an address.
func matchPrincipal(line, email string) bool {
	var list string
	if rest, ok := strings.CutPrefix(line, `"`); ok {
		list, _, _ = strings.Cut(rest, `"`)
	} else if i := strings.IndexAny(line, " \t"); i >= 0 {
		list = line[:i]
	}
	yes := false
	for p := range strings.SplitSeq(list, ",") {
		p, no := strings.CutPrefix(p, "!")
		if is, _ := path.Match(literally.Replace(p), email); p == "" || !is {
			continue
		}
		if no {
			return false
		}
		yes = true
	}
	return yes
}
