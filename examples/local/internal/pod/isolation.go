package pod

// Isolation is the way in which this machine lets a process have mounts of its own.
type Isolation string

const (
	// OwnMounts needs the right to mount, as root has it.
	OwnMounts Isolation = "mount"
	// UserMounts works for everybody, where the kernel allows it.
	UserMounts Isolation = "user"
)
