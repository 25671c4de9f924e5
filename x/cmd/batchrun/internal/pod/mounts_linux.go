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

// prepareMounts creates the folders of a container's volumes. For a relative path it makes a link
// in the work folder. Absolute paths are returned, parents first.
func (s *supervisor) prepareMounts(c *ContainerSpec) ([]bind, error) {
	var binds []bind
	for _, m := range c.Mounts {
		source, err := s.volume(&m)
		if err != nil {
			return nil, err
		}
		if filepath.IsAbs(m.Path) {
			binds = append(binds, bind{source, filepath.Clean(m.Path), m.ReadOnly})
			continue
		}
		if err := s.linkVolume(m.Path, source); err != nil {
			return nil, fmt.Errorf("mount volume %q: %w", m.Volume, err)
		}
	}
	slices.SortStableFunc(binds, func(a, b bind) int { return strings.Compare(a.Target, b.Target) })
	return binds, nil
}

// volume creates the folder of a volume, and returns the path to mount.
func (s *supervisor) volume(m *Mount) (string, error) {
	volumes, err := s.folder.open("volumes")
	if err != nil {
		return "", err
	}
	defer volumes.Close()
	if _, err := inside(volumes, m.Volume); err != nil {
		return "", fmt.Errorf("volume %q: %w", m.Volume, err)
	}
	volume, err := volumes.OpenRoot(m.Volume)
	if err != nil {
		return "", fmt.Errorf("volume %q: %w", m.Volume, err)
	}
	defer volume.Close()
	source, err := inside(volume, m.SubPath)
	if err != nil {
		return "", fmt.Errorf("subPath of volume %q: %w", m.Volume, err)
	}
	return source, nil
}

func (s *supervisor) linkVolume(path, source string) error {
	work, err := s.folder.open("work")
	if err != nil {
		return err
	}
	defer work.Close()
	return link(work, path, source)
}

// workingDir creates a container's working folder, and returns its path.
func (s *supervisor) workingDir(dir string) (string, error) {
	if filepath.IsAbs(dir) {
		return dir, nil
	}
	work, err := s.folder.open("work")
	if err != nil {
		return "", err
	}
	defer work.Close()
	return inside(work, dir)
}
