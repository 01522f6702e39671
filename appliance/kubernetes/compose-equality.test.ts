import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readEnvironment, type ServiceName } from '@eyrie/kit'
import { describe, expect, it, test } from 'vitest'
import { parse } from 'yaml'
import { MEDIA_BASE_BYTES, parseSize, RING_BYTES_PER_CHANNEL } from '../docker/ring-check.ts'
import { createServiceEnvironment } from '../supervisor/service-environment.ts'
import { SERVICE_UNITS } from '../supervisor/supervisor.ts'
import { getPodTemplate, readManifests } from './manifests.fixture.ts'

// Kubernetes starts the services of compose.yaml with appliance/docker/engines.yaml, which the
// supervisor starts without containers. What is added to one of them must be added to the others.

interface Container {
  image: string
  hostname?: string
  command?: string[]
  environment: Record<string, string>
  mem_limit: string
  stop_grace_period?: string
  shm_size?: string
  tmpfs: string[]
}

const ROOT = resolve(import.meta.dirname, '../..')
const readText = (path: string) => readFileSync(resolve(ROOT, path), 'utf8')
const dockerfile = readText('appliance/docker/Dockerfile')
/** Replaces the variables of Compose by their default values. */
const readDefaults = (path: string) =>
  parse(
    readText(path)
      .replaceAll(/\$\{\w+:\+\w+\}/g, '')
      // The default of a variable may name another one.
      .replaceAll(/\$\{\w+:-([^${}]*)\}/g, '$1')
      .replaceAll(/\$\{\w+:-([^${}]*)\}/g, '$1')
      .replaceAll(/!(override|reset)\b/g, ''),
    { merge: true },
  )
const compose = readDefaults('compose.yaml')
const { services: engines } = readDefaults('appliance/docker/engines.yaml')

const containers: Record<string, Container> = {
  database: compose.services.database,
  management: compose.services.management,
  scheduler: compose.services.scheduler,
  engine: { ...compose.services.engine, ...engines.engine },
  cli: compose.services.cli,
}
const SERVICES = ['management', 'scheduler', 'engine'] as const

const manifests = readManifests('base')
const find = (kind: string, name: string) =>
  manifests.find(manifest => manifest.kind === kind && manifest.metadata.name === name)!
const environment = find('ConfigMap', 'environment').data!

/** The pod of a workload, and its container of the same name. */
function findPod(name: string) {
  const manifest = manifests.find(each => each.metadata.name === name && getPodTemplate(each))!
  const pod = getPodTemplate(manifest)!.spec!
  return { manifest, pod, container: pod.containers.find(each => each.name === name)! }
}

/** Bytes of a quantity such as 512Mi. */
const toBytes = (quantity: unknown) => parseSize('quantity', String(quantity).replace(/i$/, ''))
const pods = Object.keys(containers)

describe('compose.yaml and Kubernetes', () => {
  it('run the same containers', () => {
    const names = manifests
      .filter(each => getPodTemplate(each))
      .map(({ metadata }) => metadata.name)
    expect(names.toSorted()).toEqual(pods.toSorted())
  })

  it('give the scheduler the same host name, which is part of its topics of MQTT', () => {
    const { pod } = findPod('scheduler')
    expect(pod.hostname).toBe(containers.scheduler!.hostname)
  })

  test.each(pods)('run the same image for %s, with the same limits and temporary files', name => {
    const {
      image,
      command,
      mem_limit: memLimit,
      stop_grace_period: stopGracePeriod,
      shm_size: shmSize,
      tmpfs,
    } = containers[name]!
    const { pod, container } = findPod(name)
    expect(container.image).toBe(image)
    if (command) expect(container.args).toEqual(command)
    expect(toBytes(container.resources!.limits!.memory)).toBe(parseSize('mem_limit', memLimit))
    if (stopGracePeriod) expect(`${pod.terminationGracePeriodSeconds}s`).toBe(stopGracePeriod)

    const inMemory = [...tmpfs, ...(shmSize ? [`/dev/shm:size=${shmSize}`] : [])].map(mount => {
      const [, path, size] = /^(\S+):size=(\w+)/.exec(mount)!
      return [path!, parseSize('tmpfs', size!)]
    })
    const mounted = container.volumeMounts!.flatMap(mount => {
      const volume = pod.volumes!.find(each => each.name === mount.name)?.emptyDir
      return volume?.medium === 'Memory' ? [[mount.mountPath, toBytes(volume.sizeLimit)]] : []
    })
    expect(Object.fromEntries(mounted)).toEqual(Object.fromEntries(inMemory))
  })

  test.each(pods)(
    'run %s without rights of root, by the restricted standard of Kubernetes',
    name => {
      const { pod } = findPod(name)
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        // Variables such as MANAGEMENT_PORT, for each Service of the namespace.
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsGroup: 10000,
          fsGroup: 10000,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      })
      expect(pod).not.toHaveProperty('hostNetwork')
      expect(pod).not.toHaveProperty('hostPID')
      for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        // Images that were imported have no registry.
        expect(container.imagePullPolicy).toBe('IfNotPresent')
        expect(container.resources).toMatchObject({
          requests: expect.anything(),
          limits: { memory: expect.anything() },
        })
        for (const port of container.ports ?? []) expect(port).not.toHaveProperty('hostPort')
      }
      const kinds = new Set(pod.volumes!.flatMap(({ name: _, ...source }) => Object.keys(source)))
      expect(['configMap', 'emptyDir', 'persistentVolumeClaim', 'secret']).toEqual(
        expect.arrayContaining([...kinds]),
      )
    },
  )

  test.each(pods)('run %s as the user of its image', name => {
    const [, first, roles] = /uid=(\d+) && for service in ([a-z ]+);/.exec(dockerfile)!
    const role = name === 'cli' ? 'management' : name
    expect(findPod(name).pod.securityContext!.runAsUser).toBe(
      Number(first) + roles!.split(' ').indexOf(role),
    )
    expect(dockerfile).toMatch(new RegExp(`^USER eyrie-${role}:eyrie-services$`, 'm'))
    expect(dockerfile).toContain('groupadd --gid 10000 eyrie-services')
  })

  it('set the same variables for all services', () => {
    const {
      // Engines have addresses of their own.
      EYRIE_ENGINE_URL: _engine,
      EYRIE_MEDIA_URL: _media,
      // The volume of management contains only its own files, so that it may write backups itself.
      EYRIE_SEPARATION: _separation,
      ...expected
    } = compose['x-environment']
    const values = Object.entries(expected).map(([variable, value]) => [variable, value ?? ''])
    expect(environment).toEqual({
      ...Object.fromEntries(values),
      ...engines.management.environment,
      EYRIE_ADMIN_EMAIL: '',
    })
  })

  test.each(SERVICES)('set the same variables for %s', name => {
    const inCompose = { ...containers[name]!.environment, ...engines[name]?.environment }
    const variables = Object.entries(inCompose).filter(
      ([variable]) => !(variable in compose['x-environment']) && !/^EYRIE_HEALTH_/.test(variable),
    )
    const own = Object.fromEntries(
      findPod(name).container.env!.map(each => [each.name, each.value]),
    )
    for (const [variable, value] of variables) {
      const isInImage = new RegExp(`^ENV ${variable}=${value}$`, 'm').test(dockerfile)
      const passed = own[variable] ?? environment[variable] ?? (isInImage ? value : undefined)
      expect({ variable, value: passed }).toEqual({ variable, value: value ?? '' })
    }
  })

  it('let management open live views at the address of the pod', () => {
    expect(findPod('engine').container.env).toContainEqual({
      name: 'EYRIE_MEDIA_HOST',
      valueFrom: { fieldRef: { fieldPath: 'status.podIP' } },
    })
  })
})

describe('supervisor and Kubernetes', () => {
  const defaults = readEnvironment({ EYRIE_DATA: '/var/lib/eyrie' })
  const supervised = createServiceEnvironment(
    defaults,
    {},
    { ...defaults, ring: '/run/eyrie/ring', separation: { level: 'full', missing: [] } },
  )

  test.each(SERVICES)('pass the same variables to %s', name => {
    const units = SERVICE_UNITS.filter(unit => unit.name === name)
    const variables = [
      ...Object.keys({ ...supervised, ...units[0]!.additional?.(defaults) }),
      ...(units[0]!.variables ?? []),
    ]
    const passed = [
      ...Object.keys(environment),
      ...findPod(name).container.env!.map(each => each.name),
    ]
    const isPassed = (variable: string) =>
      passed.includes(variable) || new RegExp(`^ENV .*\\b${variable}=`, 'm').test(dockerfile)
    expect(variables.filter(variable => !isPassed(variable))).toEqual([
      'EYRIE_ENGINE_URL',
      'EYRIE_MEDIA_URL',
      'EYRIE_SEPARATION',
    ])
  })

  test.each(SERVICES)(
    'let %s listen on the same port, which its probes and its image use',
    name => {
      const port = defaults.ports[name as ServiceName]
      const { container } = findPod(name)
      const [{ name: portName, containerPort } = {}] = container.ports!
      expect(containerPort).toBe(port)
      expect(environment[`EYRIE_${name.toUpperCase()}_PORT`]).toBe(String(port))
      expect(dockerfile).toMatch(new RegExp(`^EXPOSE ${port}\\b`, 'm'))

      // As HEALTHCHECK: an interval of 10 s, a time limit of 5 s, 3 attempts, and
      // 120 s for the start.
      expect(dockerfile).toMatch(
        /^HEALTHCHECK --interval=10s --timeout=5s --start-period=120s \S+ --retries=3 CMD \["\/opt/m,
      )
      const health = { httpGet: { path: '/health', port: portName }, timeoutSeconds: 5 }
      expect(container.startupProbe).toEqual({ ...health, periodSeconds: 1, failureThreshold: 120 })
      expect(container.readinessProbe).toEqual({
        ...health,
        periodSeconds: 10,
        failureThreshold: 3,
      })
      expect(container.livenessProbe).toEqual({ ...health, periodSeconds: 10, failureThreshold: 6 })
    },
  )
})

describe('the database', () => {
  it('is ready when its health check succeeds, and has an hour for a recovery', () => {
    const { container } = findPod('database')
    expect(dockerfile).toContain(`CMD ["pg_isready", "-q", "-h", "127.0.0.1"]`)
    const exec = { command: ['pg_isready', '-q', '-h', '127.0.0.1'] }
    expect(container.readinessProbe).toMatchObject({ exec })
    expect(container.startupProbe).toMatchObject({ exec, periodSeconds: 2, failureThreshold: 1800 })
    expect(container).not.toHaveProperty('livenessProbe')
    expect(dockerfile).toContain('PGDATA=/var/lib/postgresql/data/17')
    expect(container.volumeMounts).toContainEqual({
      name: 'data',
      mountPath: '/var/lib/postgresql/data',
    })
  })

  it('has the variables of compose.yaml', () => {
    const variables = Object.fromEntries(
      findPod('database').container.env!.map(({ name, value }) => [
        name,
        value ?? environment[name],
      ]),
    )
    expect(variables).toEqual(containers.database!.environment)
  })
})

describe('engines', () => {
  const { manifest, pod, container } = findPod('engine')

  it('have memory for the decoded pictures of 16 channels, in addition to what media needs', () => {
    const ring = toBytes(pod.volumes!.find(({ name }) => name === 'ring')!.emptyDir!.sizeLimit)
    expect(ring).toBe(16 * RING_BYTES_PER_CHANNEL)
    expect(toBytes(container.resources!.limits!.memory)).toBeGreaterThan(ring + MEDIA_BASE_BYTES)
  })

  it('have a folder for decoded pictures that only their user can enter', () => {
    const [{ command = [], volumeMounts: [created] = [] } = {}] = pod.initContainers!
    const mount = container.volumeMounts!.find(({ name }) => name === created!.name)!
    expect(command).toEqual([
      'mkdir',
      '--parents',
      '--mode=700',
      `${created!.mountPath}/${mount.subPath}`,
    ])
    expect(mount.mountPath).toBe(environment.EYRIE_RING)
  })

  it('have a volume each, and are distributed over the nodes', () => {
    expect(manifest.spec).toMatchObject({
      replicas: 3,
      volumeClaimTemplates: [{ metadata: { name: 'data' } }],
    })
    expect(container.volumeMounts).toContainEqual({
      name: 'data',
      mountPath: environment.EYRIE_DATA,
    })
    expect(pod.topologySpreadConstraints).toMatchObject([{ topologyKey: 'kubernetes.io/hostname' }])
  })
})

describe('network policies', () => {
  const policy = (name: string) => find('NetworkPolicy', name).spec
  const clients = (name: string): string[] =>
    policy(name).ingress.flatMap(({ from }: { from: { podSelector: { matchLabels: object } }[] }) =>
      from.flatMap(({ podSelector }) => Object.values(podSelector.matchLabels)),
    )

  it('admit to each service only what the networks of compose.yaml admit', () => {
    expect(clients('database')).toEqual(['management', 'cli'])
    expect(clients('management')).toEqual(['engine', 'scheduler', 'cli'])
    expect(clients('engine')).toEqual(['management'])
    expect(clients('scheduler')).toEqual([])
    expect(clients('cli')).toEqual([])
  })

  it('let the database connect to nothing, and engines to nothing else in the cluster', () => {
    expect(policy('database')).toMatchObject({ policyTypes: ['Ingress', 'Egress'], egress: [] })
    const { policyTypes, egress } = policy('engine')
    expect(policyTypes).toEqual(['Ingress', 'Egress'])
    expect(egress.at(-1).to).toEqual([
      {
        ipBlock: { cidr: '0.0.0.0/0', except: ['10.42.0.0/16', '10.43.0.0/16', '169.254.0.0/16'] },
      },
    ])
  })

  it('trust as proxies only addresses from which the policies admit Traefik and services of Eyrie', () => {
    expect(environment.EYRIE_TRUSTED_PROXIES).toBe('')
    const [, console] = readManifests('components/traefik')
    expect(console!.spec.ingress[0].from).toEqual([
      {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
        podSelector: { matchLabels: { 'app.kubernetes.io/name': 'traefik' } },
      },
    ])
    const [merged] = readManifests('components/traefik').filter(({ kind }) => kind === 'ConfigMap')
    expect(readEnvironment(merged!.data!).trustedProxies.includes('10.42.3.7')).toBe(true)
  })
})
