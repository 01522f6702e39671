import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SECRET_VARIABLES } from '@eyrie/kit/secret-variables'
import { describe, expect, it, test } from 'vitest'
import {
  findInvalidFields,
  findUnknownFields,
  getPodTemplate,
  type Manifest,
  parseManifests,
  readKustomization,
  readManifests,
} from './manifests.fixture.ts'

// What can be checked without a cluster: the manifests are valid, and name only what exists.

const FOLDERS = ['base', 'components/several-managements', 'components/traefik']
const manifests = FOLDERS.flatMap(readManifests)
const base = readManifests('base')
const title = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`
const titled = (list: Manifest[]) => list.map(manifest => [title(manifest), manifest] as const)

/** Runs the program that prints the Secrets, and returns them with their contents decoded. */
function printSecrets(variables: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(join(import.meta.dirname, 'secrets'), {
    env: { PATH: process.env.PATH, ...variables },
    encoding: 'utf8',
  })
  const printed = parseManifests(stdout)
  const contents = printed.map(({ metadata, data = {} }) => {
    const [[file = '', encoded = ''] = []] = Object.entries(data)
    const text = Buffer.from(encoded, 'base64').toString()
    return [
      metadata.name,
      { file, content: file.endsWith('.json') ? JSON.parse(text) : text },
    ] as const
  })
  return { status, stderr, printed, secrets: Object.fromEntries(contents) }
}

const { printed, secrets } = printSecrets()

/** The pods of the manifests in `base`. */
const pods = base.flatMap(manifest => {
  const template = getPodTemplate(manifest)
  return template ? [{ manifest, template, name: manifest.metadata.name }] : []
})
const titledPods = pods.map(pod => [pod.name, pod] as const)

describe('manifests', () => {
  test.each(titled([...manifests, ...printed]))(
    '%s is valid, with fields that Kubernetes knows',
    (_, manifest) => {
      expect(findInvalidFields(manifest)).toEqual([])
      expect(findUnknownFields(manifest)).toEqual([])
    },
  )

  it('are checked down to their last field', () => {
    const broken = structuredClone(base.find(({ metadata }) => metadata.name === 'scheduler')!)
    broken.spec.template.spec.securityContext.runAsNonroot = true
    broken.spec.replicas = 'one'
    expect(findUnknownFields(broken)).toEqual(['/spec/template/spec/securityContext/runAsNonroot'])
    expect(findInvalidFields(broken)).toEqual([expect.stringContaining('replicas')])
  })

  it('name no namespace, so that they can be installed in any', () => {
    for (const manifest of manifests) expect(manifest.metadata).not.toHaveProperty('namespace')
  })

  it('contain no Secret', () => {
    expect(manifests.map(({ kind }) => kind)).not.toContain('Secret')
  })

  test.each(titledPods)('the names of %s refer to what exists', (_, { manifest, template }) => {
    const names = (kind: string) =>
      base.filter(each => each.kind === kind).map(({ metadata }) => metadata.name)
    const { volumes = [], containers, initContainers = [] } = template.spec!
    const claims = (manifest.spec.volumeClaimTemplates ?? []).map(
      (claim: Manifest) => claim.metadata.name,
    )

    for (const { secret, configMap, persistentVolumeClaim } of volumes) {
      if (secret) expect(Object.keys(secrets)).toContain(secret.secretName)
      if (configMap) expect(names('ConfigMap')).toContain(configMap.name)
      if (persistentVolumeClaim) {
        expect(names('PersistentVolumeClaim')).toContain(persistentVolumeClaim.claimName)
      }
    }
    const mounts = [...containers, ...initContainers].flatMap(
      ({ volumeMounts = [] }) => volumeMounts,
    )
    const mounted = new Set(mounts.map(({ name }) => name))
    expect([...mounted].toSorted()).toEqual(
      [...volumes.map(({ name }) => name), ...claims].toSorted(),
    )

    const ports = containers.flatMap(each => each.ports ?? []).map(({ name }) => name)
    for (const { startupProbe, readinessProbe, livenessProbe } of containers) {
      for (const probe of [startupProbe, readinessProbe, livenessProbe]) {
        if (probe?.httpGet) expect(ports).toContain(probe.httpGet.port)
      }
    }
    for (const { envFrom = [], env = [] } of containers) {
      for (const { configMapRef } of envFrom) {
        expect(names('ConfigMap')).toContain(configMapRef!.name)
      }
      for (const { valueFrom } of env) {
        if (valueFrom?.configMapKeyRef) {
          expect(names('ConfigMap')).toContain(valueFrom.configMapKeyRef.name)
        }
      }
    }
  })

  test.each(titledPods)(
    '%s selects its own pods, and finds its secrets at the path that it reads',
    (_, pod) => {
      const { manifest, template } = pod
      expect(template.metadata!.labels).toMatchObject(manifest.spec.selector.matchLabels)
      for (const { env = [], volumeMounts = [] } of template.spec!.containers) {
        const path = env.find(({ name }) => /CREDENTIALS$|PASSWORD_FILE$/.test(name))?.value
        if (path === undefined) continue
        const { name, mountPath } = volumeMounts.find(mount =>
          path.startsWith(`${mount.mountPath}/`),
        )!
        const { secretName } = template.spec!.volumes!.find(volume => volume.name === name)!.secret!
        expect(path).toBe(`${mountPath}/${secrets[secretName!]!.file}`)
      }
    },
  )

  /** The pods that a selector selects, each with the names and numbers of its ports. */
  const select = (labels: Record<string, string>) =>
    pods.filter(({ template }) =>
      Object.entries(labels).every(([label, value]) => template.metadata!.labels![label] === value),
    )
  const portsOf = (selected: typeof pods) =>
    selected.flatMap(({ template }) => template.spec!.containers.flatMap(({ ports = [] }) => ports))

  test.each(titled(manifests.filter(({ kind }) => kind === 'Service')))(
    '%s leads to ports of pods',
    (_, { spec }) => {
      const ports = portsOf(select(spec.selector))
      for (const { port, targetPort } of spec.ports) {
        expect(ports).toContainEqual(
          expect.objectContaining({ name: targetPort, containerPort: port }),
        )
      }
    },
  )

  test.each(titled(manifests.filter(({ kind }) => kind === 'NetworkPolicy')))(
    '%s applies to pods that exist, and opens ports that they have',
    (_, { spec }) => {
      const selected = select(spec.podSelector.matchLabels)
      expect(selected).toHaveLength(1)
      for (const { ports, from = [] } of spec.ingress) {
        for (const { port } of ports) {
          expect(portsOf(selected).map(({ name }) => name)).toContain(port)
        }
        for (const { podSelector, namespaceSelector } of from) {
          if (!namespaceSelector) expect(select(podSelector.matchLabels)).toHaveLength(1)
        }
      }
    },
  )

  test.each(titled(manifests.filter(({ kind }) => kind === 'PodDisruptionBudget')))(
    '%s protects pods that exist',
    (_, { spec }) => expect(select(spec.selector.matchLabels)).toHaveLength(1),
  )

  it('lead the Ingress to the port of a Service', () => {
    const ingress = manifests.find(({ kind }) => kind === 'Ingress')!
    const { name, port } = ingress.spec.rules[0].http.paths[0].backend.service
    const service = base.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name)!
    expect(service.spec.ports).toContainEqual(expect.objectContaining({ name: port.name }))
  })
})

describe('kustomizations', () => {
  const folders = [
    'base',
    'example',
    ...['external-database', 'several-managements', 'traefik'].map(name => `components/${name}`),
  ]

  test.each(folders)('%s names files and folders that exist', folder => {
    const { kind, resources = [], components = [] } = readKustomization(folder)
    expect(kind).toBe(folder.startsWith('components/') ? 'Component' : 'Kustomization')
    for (const path of [...resources, ...components]) {
      expect({ path, exists: existsSync(join(import.meta.dirname, folder, path)) }).toEqual({
        path,
        exists: true,
      })
    }
  })

  test.each(folders)('%s patches what exists, with fields that Kubernetes knows', folder => {
    const named = manifests.map(title)
    for (const { patch, target } of readKustomization(folder).patches ?? []) {
      if (target) {
        expect(named).toContain(`${target.kind} ${target.name}`)
        continue
      }
      const [manifest] = parseManifests(patch)
      expect(named).toContain(title(manifest!))
      expect(findUnknownFields(manifest!).filter(field => field !== '/$patch')).toEqual([])
    }
  })

  it('external-database removes all that belongs to the database', () => {
    const removed = readKustomization('components/external-database').patches!.flatMap(
      ({ patch }) => parseManifests(patch),
    )
    expect(removed.map(title).toSorted()).toEqual(
      base
        .filter(({ metadata }) => metadata.name === 'database')
        .map(title)
        .toSorted(),
    )
  })
})

describe('secrets', () => {
  it('prints for each service what it needs, and nothing else', () => {
    expect(Object.keys(secrets)).toEqual(['database', 'management', 'scheduler', 'engine'])
    const { database, management, scheduler, engine } = secrets
    expect(management!.content).toEqual({
      DATABASE_URL: `postgres://eyrie:${database!.content}@database:5432/eyrie`,
      EYRIE_JOIN_TOKEN: expect.stringMatching(/^[\w-]{43}$/),
      EYRIE_SCHEDULER_TOKEN: expect.stringMatching(/^[\w-]{43}$/),
    })
    const { EYRIE_JOIN_TOKEN, EYRIE_SCHEDULER_TOKEN } = management!.content
    expect(scheduler!.content).toEqual({ EYRIE_SCHEDULER_TOKEN })
    expect(engine!.content).toEqual({ EYRIE_JOIN_TOKEN })
    for (const { content } of [management!, scheduler!, engine!]) {
      expect(SECRET_VARIABLES).toEqual(expect.arrayContaining(Object.keys(content)))
    }
  })

  it('generates other secrets each time', () => {
    expect(printSecrets().secrets.engine).not.toEqual(secrets.engine)
  })

  it('prints no password for a Postgres server outside of the cluster', () => {
    const DATABASE_URL = 'postgres://eyrie:a%22b@db.example/eyrie?sslmode=require'
    const external = printSecrets({ DATABASE_URL }).secrets
    expect(Object.keys(external)).toEqual(['management', 'scheduler', 'engine'])
    expect(external.management!.content).toMatchObject({ DATABASE_URL })
  })

  it('rejects an address that would end the string in its file', () => {
    const {
      status,
      stderr,
      printed: nothing,
    } = printSecrets({ DATABASE_URL: 'postgres://a","b@db/eyrie' })
    expect({ status, nothing }).toEqual({ status: 1, nothing: [] })
    expect(stderr).toContain('DATABASE_URL is not valid: write a quotation mark as %22')
  })

  it('is what the guide pipes to kubectl create, with the certificate of the Ingress', () => {
    const guide = readFileSync(join(import.meta.dirname, '../../docs/guide/kubernetes.md'), 'utf8')
    expect(guide).toContain('appliance/kubernetes/secrets | kubectl create -n eyrie -f -')
    const { secretName } = manifests.find(({ kind }) => kind === 'Ingress')!.spec.tls[0]
    expect(guide).toContain(`kubectl create secret tls ${secretName} `)
  })
})
