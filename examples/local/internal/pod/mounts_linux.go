package pod

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// bind is a folder to mount at an absolute path.
type bind struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// prepareMounts creates the folders of a container's volumes. A relative path
// becomes a link in the work folder; absolute paths are returned, parents first.
func (s *supervisor) prepareMounts(c *ContainerSpec) ([]bind, error) {
	var binds []bind
	for _, m := range c.Mounts {
		volume, err := inside(s.folder.path("volumes"), m.Volume)
		if err != nil {
			return nil, fmt.Errorf("volume %q: %w", m.Volume, err)
		}
		source, err := inside(volume, m.SubPath)
		if err != nil {
			return nil, fmt.Errorf("subPath of volume %q: %w", m.Volume, err)
		}
		if filepath.IsAbs(m.Path) {
			binds = append(binds, bind{source, filepath.Clean(m.Path), m.ReadOnly})
			continue
		}
		if err := link(s.folder.Work(), m.Path, source); err != nil {
			return nil, fmt.Errorf("mount volume %q: %w", m.Volume, err)
		}
	}
	slices.SortStableFunc(binds, func(a, b bind) int { return strings.Compare(a.Target, b.Target) })
	return binds, nil
}
