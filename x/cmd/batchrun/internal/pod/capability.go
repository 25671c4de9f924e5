package pod

import "strings"

// capabilities are the names of the capabilities of Linux in the order of their numbers.
var capabilities = strings.Fields(`CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP
	LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT
	SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE
	AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF
	CHECKPOINT_RESTORE`)

// CapabilityNumbers returns the number of the capability that has a name in manifests. For ALL it
// returns the numbers of all capabilities, and for an unknown name nil.
func CapabilityNumbers(name string) []int {
	name = strings.TrimPrefix(strings.ToUpper(name), "CAP_")
	var numbers []int
	for i, known := range capabilities {
		if name == known || name == "ALL" {
			numbers = append(numbers, i)
		}
	}
	return numbers
}
