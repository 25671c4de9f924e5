package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/internal/groups"
)

// OldestMinor is the minor version of the oldest server that the controllers work with: 1.31
// is the first that lets every kind of job declare its end before its last pods are gone.
const OldestMinor = 31

// Answer is a server's answer to a question that it may refuse.
type Answer uint8

// The answers. Unknown means that the server refused the question.
const (
	Unknown Answer = iota
	Yes
	No
)

// String returns the answer in a word.
func (a Answer) String() string { return [...]string{"unknown", "yes", "no"}[a] }

// Server describes the server of a replica.
type Server struct {
	// Version is the version of the server, such as "v1.36.3".
	Version string
	// ManagedBy and ReplacementPolicy say whether the server keeps these fields of a job, and
	// so whether its feature gates JobManagedBy and JobPodReplacementPolicy are on.
	ManagedBy, ReplacementPolicy Answer
}

// AskServer finds out what the server supports. It sends a job as a dry run, which creates nothing,
// to see which fields come back. Without the right to create jobs, the answers stay Unknown.
func AskServer(ctx context.Context, client kubernetes.Interface, namespace string) (Server, error) {
	info, err := client.Discovery().ServerVersion()
	if err != nil {
		return Server{}, fmt.Errorf("version of the server: %w", err)
	}
	major, minor := behavesAs(info)
	s := Server{Version: info.GitVersion}

	n, err := strconv.Atoi(strings.TrimRight(minor, "+"))
	if err != nil {
		return s, fmt.Errorf("version of the server: minor %q of %q is not a number", minor, info.GitVersion)
	}
	if major == "1" && n < OldestMinor {
		return s, fmt.Errorf("the server is version %s.%s, and the oldest that works is 1.%d",
			major, minor, OldestMinor)
	}
	return s, s.askFields(ctx, client, namespace)
}

// askGroups returns an error if the server does not have the resources of gangs. It has them if its
// feature gate GenericWorkload is on and their API group is enabled.
func (s *Server) askGroups(client kubernetes.Interface) error {
	list, err := client.Discovery().ServerResourcesForGroupVersion(groups.Workloads.GroupVersion().String())
	switch {
	case apierrors.IsForbidden(err):
		return nil // unknown: try to use them
	case apierrors.IsNotFound(err):
		list = &metav1.APIResourceList{}
	case err != nil:
		return fmt.Errorf("resources of the server: %w", err)
	}

	serves := func(name string) bool {
		return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == name })
	}
	if serves(groups.Workloads.Resource) && serves(groups.PodGroups.Resource) {
		return nil
	}
	version := groups.Workloads.GroupVersion()
	return fmt.Errorf("job.gangs: the server %s serves no workloads and pod groups of %s: gangs need Kubernetes 1.37 "+
		"with its feature gates GenericWorkload and WorkloadWithJob, and with --runtime-config=%s=true",
		s.Version, version, version)
}

// behavesAs returns the version that a server emulates, or else its own. The oldest libraries have
// no fields for the emulated version, so it is read from JSON.
func behavesAs(info *version.Info) (major, minor string) {
	var emulated struct{ EmulationMajor, EmulationMinor string }
	data, err := json.Marshal(info)
	if err == nil {
		err = json.Unmarshal(data, &emulated)
	}
	if err != nil || emulated.EmulationMajor == "" {
		return info.Major, info.Minor
	}
	return emulated.EmulationMajor, emulated.EmulationMinor
}

// askFields sends a job with the fields managedBy and podReplacementPolicy, and checks which of
// them come back.
func (s *Server) askFields(ctx context.Context, client kubernetes.Interface, namespace string) error {
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	out, err := client.BatchV1().Jobs(namespace).Create(ctx, question(), dryRun)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsNotFound(err):
		return nil // no answer, because of a right, a policy, a webhook or the namespace
	case err != nil:
		return fmt.Errorf("dry run of a job: %w", err)
	}

	s.ManagedBy = answer(out.Spec.ManagedBy != nil)
	s.ReplacementPolicy = answer(out.Spec.PodReplacementPolicy != nil)
	return nil
}

func answer(yes bool) Answer {
	if yes {
		return Yes
	}
	return No
}

func question() *batchv1.Job {
	managedBy, policy, suspend := "batchplan.example/question", batchv1.Failed, true
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "batchplan-question-"},
		Spec: batchv1.JobSpec{
			ManagedBy:            &managedBy,
			PodReplacementPolicy: &policy,
			Suspend:              &suspend,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "example.com/none"}},
			}},
		},
	}
}

// adapt changes the options of the planner to what the server accepts. It returns an error if the
// controllers cannot work with the server.
func (s *Server) adapt(managedBy string, o *job.Options) error {
	if s.ManagedBy == No && managedBy != job.ControllerName {
		return fmt.Errorf("the server %s drops spec.managedBy, since its feature gate JobManagedBy is off "+
			"(it is on from 1.32): no job can name %q", s.Version, managedBy)
	}
	if s.ManagedBy == No && s.ReplacementPolicy == No {
		// Such a server refuses SuccessCriteriaMet for a job without successPolicy.
		o.NoSuccessCriteriaMet = true
	}
	return nil
}
