package pod

// Isolation is the way in which a process can have its own mounts on this machine.
type Isolation string

const (
	// OwnMounts needs the right to mount, which root has.
	OwnMounts Isolation = "mount"
	// UserMounts works for every user, if the kernel allows it.
	UserMounts Isolation = "user"
)
