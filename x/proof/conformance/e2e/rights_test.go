package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/x/kubernetes/replica"
)

// world is a test of one of the roles: it has the controllers, and lives of objects that use each
// right of the role.
type world struct {
	role string // of the manifests
	more string // another role of the manifests, whose rights are not taken away
	set  func(*replica.Config)
	live func(*place, *process)
	// fails, if not nil, makes a request fail once. The repetition needs another right.
	fails func() middleware
}

var worlds = map[string]world{
	"jobs": {role: "ClusterRole/batchplan-controller", live: liveOfJobs},
	"cronjobs": {role: "ClusterRole/batchplan-controller-cronjobs", live: liveOfCronJobs,
		set: func(c *replica.Config) { c.Controllers = []string{replica.CronJobs} }},
	"ttl": {role: "ClusterRole/batchplan-controller-ttl", live: liveOfTTL,
		set: func(c *replica.Config) { c.Controllers = []string{replica.TTL} }},
	"memory": {role: "ClusterRole/batchplan-controller-memory", more: "ClusterRole/batchplan-controller", live: liveOfMemory,
		set: func(c *replica.Config) { c.MemoryAnnotation = memoryAnnotation }},
	"election": {role: "Role/batchplan-controller", more: "ClusterRole/batchplan-controller", live: liveOfLeader,
		set: func(c *replica.Config) { c.Election = true }},
}

// testRights: with the rights of the manifests nothing is refused. If one right is missing, the log
// names it, and all ends well once the right is given.
func testRights(t *testing.T, c *cluster) {
	for name, w := range worlds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.testEach(t, c)
		})
	}
}

// testEach plays the life with all rights of the world, and without each of them.
func (w *world) testEach(t *testing.T, c *cluster) {
	roles := rolesOf(t)
	all := roles[w.role]
	if len(all) == 0 {
		t.Fatalf("the manifests have no %s", w.role)
	}
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		w.test(t, c, all, roles[w.more], nil)
	})
	for _, r := range all {
		t.Run(strings.ReplaceAll("without "+r.String(), "/", "."), func(t *testing.T) {
			t.Parallel()
			w.test(t, c, all, roles[w.more], &r)
		})
	}
}

// test plays the life of a world. A missing right is given once the log has named it.
func (w *world) test(t *testing.T, c *cluster, all, more []right, missing *right) {
	p := c.newPlace(t)
	given := slices.Clone(all)
	if missing != nil {
		given = slices.DeleteFunc(given, func(r right) bool { return r == *missing })
	}
	p.give(slices.Concat(given, more))
	p.untilGiven(slices.Concat(given, more)[0])

	config := p.config()
	config.Lease = replica.Lease{Namespace: p.namespace, Duration: 30 * time.Second}
	if w.set != nil {
		w.set(&config)
	}

	refused := &refusals{}
	between := []middleware{as(p.user()), refused.between}
	if w.fails != nil {
		between = append(between, w.fails())
	}
	if missing != nil && missing.verb == "list" {
		between = append(between, withoutStreams)
	}

	r := p.start(config, between...)
	if missing == nil {
		w.live(p, r)
		refused.check(p)
		return
	}

	var waiting sync.WaitGroup
	waiting.Go(func() {
		if !r.named(t.Context(), *missing) {
			t.Errorf("no line of the log names the refused right to %s", missing)
		}
		p.give(slices.Concat(all, more))
	})
	w.live(p, r)
	waiting.Wait()
	refused.check(p, *missing)
}

// right is something that a role allows. It may be restricted to the object with a name.
type right struct{ group, resource, verb, name string }

func (r right) String() string { return r.verb + " " + r.resource }

// refusals returns the server's messages when the right is missing. With
// OwnerReferencesPermissionEnforcement, a client that makes an object the owner of others needs the
// right to set the finalizers of the owner, and the right to delete the others.
func (r right) refusals() []string {
	texts := []string{fmt.Sprintf("cannot %s resource %q in API group %q", r.verb, r.resource, r.group)}
	switch {
	case strings.HasSuffix(r.resource, "/finalizers"):
		texts[0] = "an ownerReference refers to a resource you can't set finalizers on"
	case r.verb == "delete":
		texts = append(texts, "cannot set an ownerRef on a resource you can't delete")
	}
	return texts
}

// isNamedIn reports whether a text says that the right is missing.
func (r right) isNamedIn(text string) bool {
	return slices.ContainsFunc(r.refusals(), func(refusal string) bool { return strings.Contains(text, refusal) })
}

// named waits for a line of the log that names a refused right.
func (r *process) named(ctx context.Context, missing right) bool {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience / 2); time.Now().Before(deadline); {
		if r.log.any(missing.isNamedIn) {
			return true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return false
}

// user returns the name of the user with the rights of this test.
func (p *place) user() string { return "user-of-" + p.namespace }

// give gives the user of a place these rights and no others. The rights to leases hold in the
// namespace, all others in all namespaces.
func (p *place) give(rights []right) {
	p.Helper()
	var here, everywhere []rbacv1.PolicyRule
	for _, r := range rights {
		rule := rbacv1.PolicyRule{APIGroups: []string{r.group}, Resources: []string{r.resource}, Verbs: []string{r.verb}}
		if r.name != "" {
			rule.ResourceNames = []string{r.name}
		}
		if r.resource == "leases" {
			here = append(here, rule)
		} else {
			everywhere = append(everywhere, rule)
		}
	}

	meta := metav1.ObjectMeta{Name: p.user(), Namespace: p.namespace}
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: p.user()}}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: here}
	clusterRole := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: p.user()}, Rules: everywhere}
	ctx, rbac := context.WithoutCancel(p.Context()), p.RbacV1()

	if _, err := rbac.ClusterRoles().Get(ctx, p.user(), metav1.GetOptions{}); err == nil {
		_, err := rbac.Roles(p.namespace).Update(ctx, role, metav1.UpdateOptions{})
		p.must(err)
		_, err = rbac.ClusterRoles().Update(ctx, clusterRole, metav1.UpdateOptions{})
		p.must(err)
		return
	}

	_, err := rbac.RoleBindings(p.namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: p.user()},
	}, metav1.CreateOptions{})
	p.must(err)
	_, err = rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: clusterRole.ObjectMeta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: p.user()},
	}, metav1.CreateOptions{})
	p.must(err)

	_, err = rbac.Roles(p.namespace).Create(ctx, role, metav1.CreateOptions{})
	p.must(err)
	_, err = rbac.ClusterRoles().Create(ctx, clusterRole, metav1.CreateOptions{})
	p.must(err)
}

func (p *place) must(err error) {
	p.Helper()
	if err != nil {
		p.Error(err)
	}
}

// untilGiven waits until the authorizer's caches show the roles.
func (p *place) untilGiven(r right) {
	p.Helper()
	resource, subresource, _ := strings.Cut(r.resource, "/")
	p.until("given the right to "+r.String(), func() bool {
		review, err := p.AuthorizationV1().SubjectAccessReviews().Create(p.Context(), &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: p.user(), ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: p.namespace, Group: r.group, Resource: resource, Subresource: subresource, Verb: r.verb, Name: r.name,
			}},
		}, metav1.CreateOptions{})
		return err == nil && review.Status.Allowed
	})
}

// as makes requests in the name of a user.
func as(user string) middleware {
	return func(r *http.Request, server http.RoundTripper) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set("Impersonate-User", user)
		return server.RoundTrip(r)
	}
}

// withoutStreams is a server that refuses to stream lists, as servers of 1.33, and those before
// 1.32, do by default. With streamed lists, the right to list is not needed.
func withoutStreams(r *http.Request, server http.RoundTripper) (*http.Response, error) {
	if isWatch(r) && r.URL.Query().Get("sendInitialEvents") == "true" {
		return answer(r, http.StatusUnprocessableEntity, "Invalid"), nil
	}
	return server.RoundTrip(r)
}

// refusals collects the answers to requests for which a right was missing.
type refusals struct {
	mu    sync.Mutex
	texts []string
}

func (f *refusals) between(r *http.Request, server http.RoundTripper) (*http.Response, error) {
	response, err := server.RoundTrip(r)
	// The dry run of a job is only a probe, and may be refused.
	if err != nil || response.StatusCode != http.StatusForbidden || strings.Contains(r.URL.RawQuery, "dryRun") {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.texts = append(f.texts, strings.ReplaceAll(string(body), `\`, ""))
	return response, err
}

// check checks that only these rights were refused, and that the replica did not repeat its
// requests without end.
func (f *refusals) check(p *place, missing ...right) {
	p.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, text := range f.texts {
		if !slices.ContainsFunc(missing, func(r right) bool { return r.isNamedIn(text) }) {
			p.Errorf("refused: %s", text)
		}
	}
	if len(f.texts) > 40 {
		p.Errorf("%d refused requests: a hot loop", len(f.texts))
	}
}
