package anchor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const keyBytes = 32

// key reads the key that signs permits. With random it makes one where there is
// none; several that make it at once all get the first. A key that others may
// read is none.
func (s *Store) key(random func([]byte) error, mark string) ([]byte, error) {
	at, name := filepath.Split(s.at.Key)
	if random != nil {
		if err := os.MkdirAll(at, 0o777); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	d := &dir{root: root, path: filepath.ToSlash(filepath.Clean(at)), step: s.step}
	defer d.close()
	if there, err := d.has(name); !there && random != nil {
		b := make([]byte, keyBytes)
		if err = errors.Join(err, random(b)); err == nil {
			err = d.create(name, mark, b)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return d.secret(name)
}

func (d *dir) secret(name string) ([]byte, error) {
	b, err := d.read(name)
	if err != nil {
		return nil, err
	}
	info, err := d.root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s/%s: others may read the key; remove it (every session must bind again) or chmod 600 it", d.path, name)
	case len(b) != keyBytes:
		return nil, fmt.Errorf("%s/%s: %d bytes are no key of %d; remove it, and every session must bind again", d.path, name, len(b), keyBytes)
	}
	return b, nil
}

// sign is the MAC of an anchor's hash.
func sign(key []byte, sum string) string {
	m := hmac.New(sha256.New, key)
	fmt.Fprintf(m, "odd anchor 1\n%s\n", sum)
	return hex.EncodeToString(m.Sum(nil))
}

func hasValidMAC(key []byte, sum, mac string) bool {
	return hmac.Equal([]byte(sign(key, sum)), []byte(mac))
}
