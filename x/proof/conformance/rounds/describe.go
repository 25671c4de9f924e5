package rounds

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/batchplan/batchplan/job/jobgroup"
)

// String returns the snapshot as text: the objects as JSON, a line each.
func (s *Snapshot) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "now %s\n", s.Now.Format("2006-01-02T15:04:05.999Z"))
	fmt.Fprintf(&b, "job %s\n", encode(s.Job))
	for _, p := range s.Pods {
		fmt.Fprintf(&b, "pod %s\n", encode(p))
	}
	if !reflect.DeepEqual(s.Groups, jobgroup.Groups{}) {
		fmt.Fprintf(&b, "groups %s\n", encode(s.Groups))
	}
	fmt.Fprintf(&b, "memory %+v\n", s.Memory)
	fmt.Fprintf(&b, "faults %+v\n", s.Faults)
	return b.String()
}
