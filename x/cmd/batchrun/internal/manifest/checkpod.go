package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

func (d *document) checkPod(raw map[string]any, j *Job) {
	const path = "spec.template.spec"
	pod := &j.Object.Spec.Template.Spec
	d.fields(path, raw, podHonoured, podIgnored)
	d.checkSecurity(path, raw["securityContext"])

	list, _ := raw["volumes"].([]any)
	for i, v := range pod.Volumes {
		at := fmt.Sprintf("%s.volumes[%d]", path, i)
		if item, _ := list[i].(map[string]any); v.EmptyDir == nil {
			for source := range item {
				if source != "name" {
					d.reject(at+"."+source, "not supported by this runner, which has emptyDir volumes only")
				}
			}
		}
	}

	for _, group := range []struct {
		field      string
		containers []corev1.Container
	}{{"initContainers", pod.InitContainers}, {"containers", pod.Containers}} {
		rawList, _ := raw[group.field].([]any)
		for i := range group.containers {
			c := &group.containers[i]
			at := fmt.Sprintf("%s.%s[%d]", path, group.field, i)
			rawContainer, _ := rawList[i].(map[string]any)
			d.checkContainer(at, rawContainer, c, group.field == "initContainers")
			d.checkMounts(at, c)
		}
	}
}

func (d *document) checkContainer(path string, raw map[string]any, c *corev1.Container, isInit bool) {
	d.fields(path, raw, containerHonoured, containerIgnored)
	d.checkSecurity(path, raw["securityContext"])
	switch {
	case len(c.Command) == 0 && len(c.Args) > 0:
		d.reject(path+".command", "is required: args need the entry point of image %q, and images are not pulled",
			c.Image)
	case len(c.Command) == 0:
		d.reject(path+".command",
			"is required: the entry point of image %q is unknown, since images are not pulled", c.Image)
	case c.Command[0] == "":
		d.reject(path+".command[0]", "\"\": is not a program")
	}
	if p := c.RestartPolicy; p != nil && (!isInit || *p != corev1.ContainerRestartPolicyAlways) {
		d.reject(path+".restartPolicy",
			"%q: not supported by this runner: only init containers may have one, and only \"Always\"", *p)
	}
	d.checkDir(path+".workingDir", c)
	for i, e := range c.Env {
		d.checkEnv(fmt.Sprintf("%s.env[%d]", path, i), &e)
	}
	for i, word := range c.Command {
		d.checkLength(fmt.Sprintf("%s.command[%d]", path, i), word)
	}
	for i, word := range c.Args {
		d.checkLength(fmt.Sprintf("%s.args[%d]", path, i), word)
	}
}

func (d *document) checkDir(path string, c *corev1.Container) {
	switch dir := c.WorkingDir; {
	case dir == "":
	case !filepath.IsAbs(dir) && !filepath.IsLocal(dir):
		d.reject(path, "%q: is not a path inside the pod's folder", dir)
	case filepath.IsAbs(dir) && !mounted(dir, c):
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			d.reject(path, "%q: is not a folder on this machine", dir)
		}
	}
}

func mounted(dir string, c *corev1.Container) bool {
	return slices.ContainsFunc(c.VolumeMounts,
		func(m corev1.VolumeMount) bool { return hides(m.MountPath, filepath.Clean(dir)) })
}

func (d *document) checkEnv(path string, e *corev1.EnvVar) {
	if e.Name == "" || strings.ContainsAny(e.Name, "=\x00") {
		d.reject(path+".name", "%q: is not the name of a variable", e.Name)
	}
	d.checkLength(path+".value", e.Name+"="+e.Value)
	from := e.ValueFrom
	if from == nil {
		return
	}
	if e.Value != "" {
		d.reject(path+".valueFrom", "value %q is also set: only one of them may be", e.Value)
	}
	switch {
	case from.SecretKeyRef != nil:
		d.reject(path+".valueFrom.secretKeyRef", "%q: not supported by this runner, which has no Secrets",
			from.SecretKeyRef.Name)
	case from.ConfigMapKeyRef != nil:
		d.reject(path+".valueFrom.configMapKeyRef", "%q: not supported by this runner, which has no ConfigMaps",
			from.ConfigMapKeyRef.Name)
	case from.FieldRef == nil:
		d.reject(path+".valueFrom", "not supported by this runner, which has fieldRef only")
	case !slices.Contains(envFields, from.FieldRef.FieldPath) && metadataKey(from.FieldRef.FieldPath) == "":
		d.reject(path+".valueFrom.fieldRef.fieldPath",
			"%q: not supported by this runner; use %s, metadata.labels['KEY'] or metadata.annotations['KEY']",
			from.FieldRef.FieldPath, strings.Join(envFields, ", "))
	}
}

// metadataKey returns KEY of metadata.labels['KEY'] or metadata.annotations['KEY'].
func metadataKey(path string) string {
	for _, prefix := range []string{"metadata.labels['", "metadata.annotations['"} {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			if key, ok := strings.CutSuffix(rest, "']"); ok {
				return key
			}
		}
	}
	return ""
}

// checkMounts checks the mounts of a container. Whether an absolute path is possible depends on the
// machine. The caller of Read checks that.
func (d *document) checkMounts(path string, c *corev1.Container) {
	for i, m := range c.VolumeMounts {
		at := fmt.Sprintf("%s.volumeMounts[%d]", path, i)
		clean := filepath.Clean(m.MountPath)
		switch {
		case m.MountPath == "": // refused already
		case clean == "." || clean == ".." || strings.HasPrefix(clean, "../"):
			d.reject(at+".mountPath", "%q: is not a path inside the container", m.MountPath)
		case slices.ContainsFunc([]string{"/", "/proc", "/sys", "/dev"},
			func(dir string) bool { return hides(clean, dir) }):
			d.reject(at+".mountPath", "%q: not possible: it would hide the system's own files", m.MountPath)
		case m.SubPathExpr != "":
			d.reject(at+".subPathExpr", "%q: cannot be honoured by this runner", m.SubPathExpr)
		case m.SubPath != "" && !filepath.IsLocal(m.SubPath):
			d.reject(at+".subPath", "%q: is not a path inside the volume", m.SubPath)
		case m.ReadOnly && !filepath.IsAbs(clean):
			d.reject(at+".readOnly", "true: not supported for the relative path %q", m.MountPath)
		case m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone:
			d.reject(at+".mountPropagation", "%q: cannot be honoured by this runner", *m.MountPropagation)
		}
	}
}

// AbsoluteMount is a mount that needs a mount namespace.
type AbsoluteMount struct{ Field, Path string }

// AbsoluteMounts returns the mounts at absolute paths.
func (j *Job) AbsoluteMounts() []AbsoluteMount {
	var mounts []AbsoluteMount
	pod := &j.Object.Spec.Template.Spec
	add := func(field string, list []corev1.Container) {
		for i := range list {
			for k, m := range list[i].VolumeMounts {
				if filepath.IsAbs(m.MountPath) {
					at := j.base + fmt.Sprintf("spec.template.spec.%s[%d].volumeMounts[%d].mountPath", field, i, k)
					mounts = append(mounts, AbsoluteMount{at, m.MountPath})
				}
			}
		}
	}
	add("initContainers", pod.InitContainers)
	add("containers", pod.Containers)
	return mounts
}

// Refuse returns the error for a mount that this machine cannot honour.
func (j *Job) Refuse(m AbsoluteMount, why error) error {
	return fmt.Errorf("%s: %s: %q: not possible on this machine: %w", j.Source, m.Field, m.Path, why)
}
