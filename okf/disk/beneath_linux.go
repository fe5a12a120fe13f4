package disk

import "golang.org/x/sys/unix"

// openBeneath opens the folder dir below the one at fd. As with os.Root, links may lead
// elsewhere below it, but none leads out.
func openBeneath(fd int, dir string) (int, error) {
	return unix.Openat2(fd, dir, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS,
	})
}
