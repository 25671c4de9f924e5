package pod

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/examples/local/internal/private"
)

// bind is a folder to show at an absolute path.
type bind struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// prepareMounts makes the folders of a container's volumes. A relative path
// becomes a link in the work folder; absolute ones are returned, parents first.
func (s *supervisor) prepareMounts(c *ContainerSpec) ([]bind, error) {
	var binds []bind
	for _, m := range c.Mounts {
		source := filepath.Join(s.folder.volume(m.Volume), m.SubPath)
		if err := os.MkdirAll(source, private.DirMode); err != nil {
			return nil, err
		}
		if filepath.IsAbs(m.Path) {
			binds = append(binds, bind{source, filepath.Clean(m.Path), m.ReadOnly})
			continue
		}
		link := filepath.Join(s.folder.Work(), m.Path)
		if err := os.MkdirAll(filepath.Dir(link), private.DirMode); err != nil {
			return nil, err
		}
		if have, err := os.Readlink(link); err == nil && have == source {
			continue
		}
		if err := os.Symlink(source, link); err != nil {
			return nil, fmt.Errorf("mount volume %q: %w", m.Volume, err)
		}
	}
	slices.SortStableFunc(binds, func(a, b bind) int { return strings.Compare(a.Target, b.Target) })
	return binds, nil
}
