//go:build bench

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func npm(pkg, version, bin string) func(string) (string, error) {
	return func(cache string) (string, error) {
		dir := filepath.Join(cache, "npm", strings.NewReplacer("@", "_", "/", "_").Replace(pkg+"@"+version))
		file := filepath.Join(dir, "node_modules", ".bin", bin)
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		return file, quiet(dir, nil, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", ".", pkg+"@"+version)
	}
}

func debian(pkg, bin string) func(string) (string, error) {
	return func(cache string) (string, error) {
		dir := filepath.Join(cache, "deb")
		file := filepath.Join(dir, "root", "usr", "bin", bin)
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		if err := quiet(dir, nil, "apt-get", "download", pkg); err != nil {
			return "", err
		}
		debs, err := filepath.Glob(filepath.Join(dir, pkg+"_*.deb"))
		if err != nil || len(debs) == 0 {
			return "", fmt.Errorf("apt-get download %s left no package", pkg)
		}
		return file, quiet(dir, nil, "dpkg", "-x", debs[len(debs)-1], "root")
	}
}

func goInstall(module, bin string) func(string) (string, error) {
	return func(cache string) (string, error) {
		dir := filepath.Join(cache, "bin")
		file := filepath.Join(dir, bin)
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
		return file, quiet(os.TempDir(), []string{"GOBIN=" + dir, "GOFLAGS=", "CGO_ENABLED=0"}, "go", "install", module)
	}
}

// quiet runs a command in the developer's own environment, and says the last
// line of what it said when it fails.
func quiet(dir string, env []string, argv ...string) error {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	b, err := c.CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		return fmt.Errorf("%s: %v: %s", strings.Join(argv, " "), err, strings.TrimSpace(lines[len(lines)-1]))
	}
	return nil
}

// unmeasured are peers that the Go module proxy may or may not hand out.
func unmeasured() []tool {
	var all []tool
	for _, p := range [][2]string{
		{"git-bug", "github.com/git-bug/git-bug@v0.10.1"}, {"kanban-md", "github.com/antopolskiy/kanban-md@latest"},
		{"td", "github.com/marcus/td@latest"}, {"taskmd", "github.com/driangle/taskmd@latest"}, {"zk", "github.com/zk-org/zk@latest"},
	} {
		all = append(all, tool{name: p[0], from: "Go proxy " + p[1], install: goInstall(p[1], p[0])})
	}
	return all
}
