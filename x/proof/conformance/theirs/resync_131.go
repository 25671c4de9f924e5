//go:build before135

package theirs

import (
	"time"
	_ "unsafe" // for go:linkname

	_ "k8s.io/client-go/tools/cache"
)

// never is the channel on which a cache waits that is not to be listed again. It is made outside
// the bubbles of synctest, in which nobody can wait for it without stopping virtual time. Nil
// is waited for as long.
//
//go:linkname never k8s.io/client-go/tools/cache.neverExitWatch
var never <-chan time.Time

func init() { never = nil }
