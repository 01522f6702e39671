import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readEnvironment, type ServiceName } from '@eyrie/kit'
import { listNodeOptions } from '@eyrie/kit/node-options'
import { describe, expect, it, test } from 'vitest'
import { parse } from 'yaml'
import { createServiceEnvironment } from '../supervisor/service-environment.ts'
import { ENGINE_UNITS, SERVICE_UNITS } from '../supervisor/supervisor.ts'
import { MEDIA_BASE_BYTES, parseSize, RING_BYTES_PER_CHANNEL } from './ring-check.ts'

// The supervisor and compose.yaml start the same services. What is added to one of them must
// be added to the other.

interface Container {
  image: string
  command?: string[]
  environment?: Record<string, string>
  ports?: string[]
  networks?: string[] | Record<string, unknown>
  volumes?: (string | { source: string; target: string; read_only?: boolean })[]
  healthcheck?: { disable?: boolean }
  [option: string]: unknown
}

const ROOT = resolve(import.meta.dirname, '../..')
const readText = (path: string) => readFileSync(resolve(ROOT, path), 'utf8')

const compose: {
  services: Record<string, Container>
  volumes: Record<string, never>
  networks: object
} = parse(readText('compose.yaml'), { merge: true })
const dockerfile = readText('appliance/docker/Dockerfile')
const names = SERVICE_UNITS.map(({ name }) => name)

const environment = readEnvironment({ EYRIE_DATA: '/var/lib/eyrie' })
const separation = { level: 'full' as const, missing: [] }
const supervised = createServiceEnvironment(
  environment,
  {},
  { ports: environment.ports, urls: environment.urls, ring: '/run/eyrie/ring', separation },
)

/**
 * Returns the instructions of a target of the Dockerfile, with those of the target
 * that it is made from.
 */
function readTarget(name: string): string {
  const [, base = '', instructions = ''] =
    new RegExp(`^FROM (\\S+) AS ${name}$([\\s\\S]*?)(?=^FROM |\\s*$(?![\\s\\S]))`, 'm').exec(
      dockerfile,
    ) ?? []
  return (base === 'runtime' || base === 'debian' ? '' : readTarget(base)) + instructions
}

describe('supervisor and compose.yaml', () => {
  test.each(names)('both start %s with the same options of Node', name => {
    const start = readText('appliance/docker/start')
    const [, common = ''] = start.match(/^options=\((.*)\)$/m) ?? []
    const own = start.match(/^\[\[ \$service != (\w+) \]\] \|\| options\+=\((.*)\)$/m)
    const options = [common, ...(own?.[1] === name ? [own[2]] : [])]
    // Media is started by a program that has these options from the same list.
    expect(options).toEqual(listNodeOptions(name))
  })

  test.each(names)('both start %s, by the same program', name => {
    const unit = SERVICE_UNITS.find(each => each.name === name)!
    const { image, command } = compose.services[name]!
    expect(image).toBe(`eyrie/${name}:\${EYRIE_VERSION:-latest}`)
    const program = readText('appliance/docker/start').match(/^program=(.*)$/m)?.[1]
    expect(resolve(ROOT, program!.replace('$service', command![0]!))).toBe(unit.main)
  })

  it('have no other services', () => {
    const isService = ([, { image, restart }]: [string, Container]) =>
      /^eyrie\/(?!database)/.test(image) && restart === 'unless-stopped'
    expect(
      Object.entries(compose.services)
        .filter(isService)
        .map(([name]) => name),
    ).toEqual(names)
  })

  test.each(names)('pass the same variables to %s', name => {
    const unit = SERVICE_UNITS.find(each => each.name === name)!
    const variables = Object.keys({ ...supervised, ...unit.additional?.(environment) })
    const image = readTarget(name)
    const isPassed = (variable: string) =>
      compose.services[name]!.environment?.[variable] !== undefined ||
      new RegExp(`^ENV .*\\b${variable}=`, 'm').test(image)
    expect(
      [...variables, ...(unit.variables ?? [])].filter(variable => !isPassed(variable)),
    ).toEqual([])
  })

  test.each(names)(
    '%s listens on the same port, which its health check and its image use',
    name => {
      const port = environment.ports[name as ServiceName]
      const { environment: variables = {}, healthcheck } = compose.services[name]!
      expect(variables[`EYRIE_${name.toUpperCase()}_PORT`]).toBe(String(port))
      expect(variables.EYRIE_HEALTH_PORT).toBe(String(port))
      expect(healthcheck).toBeUndefined()
      expect(readTarget(name)).toMatch(new RegExp(`^EXPOSE ${port}\\b`, 'm'))
      expect(dockerfile).toMatch(
        /^HEALTHCHECK .*CMD \["\/opt\/eyrie\/appliance\/docker\/health"\]$/m,
      )
    },
  )

  it('use the same values where containers do not change them', () => {
    const { media } = compose.services
    expect(media!.environment).toMatchObject({
      EYRIE_DATA: environment.data,
      EYRIE_MEDIA_ROOTS: supervised.EYRIE_MEDIA_ROOTS,
      EYRIE_OUTPUT_ROOTS: supervised.EYRIE_OUTPUT_ROOTS,
      EYRIE_RING: '/run/eyrie/ring',
      EYRIE_SEPARATION: supervised.EYRIE_SEPARATION,
      EYRIE_ENGINE_URL: supervised.EYRIE_ENGINE_URL!.replace('127.0.0.1', 'engine'),
      EYRIE_MEDIA_URL: supervised.EYRIE_MEDIA_URL!.replace('127.0.0.1', 'media'),
    })
    expect(readTarget('media')).toContain('GST_REGISTRY=/var/lib/eyrie/gstreamer/registry.bin')
  })
})

describe('compose.yaml', () => {
  const all = Object.entries(compose.services)

  test.each(all)('%s has no rights of root and limited resources', (_, container) => {
    expect(container).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.anything(),
      pids_limit: expect.any(Number),
      logging: { options: { 'max-size': expect.anything(), 'max-file': expect.anything() } },
    })
    expect(container).not.toHaveProperty('privileged')
    expect(container.network_mode).not.toBe('host')
  })

  it('publishes the ports of management and of WebRTC only, and Grafana to this machine', () => {
    const published = all.flatMap(([, { ports = [] }]) => ports)
    expect(published).toEqual([
      `\${EYRIE_ADDRESS:-127.0.0.1}:\${EYRIE_WEBRTC_PORT:-40000}:\${EYRIE_WEBRTC_PORT:-40000}/udp`,
      `\${EYRIE_ADDRESS:-127.0.0.1}:\${EYRIE_WEBRTC_PORT:-40000}:\${EYRIE_WEBRTC_PORT:-40000}/tcp`,
      `\${EYRIE_ADDRESS:-127.0.0.1}:\${EYRIE_PORT:-8080}:8080`,
      `127.0.0.1:\${EYRIE_GRAFANA_PORT:-3000}:3000`,
    ])
  })

  it('only the database is in a network without a way out', () => {
    expect(compose.networks).toEqual({ services: {}, database: { internal: true } })
    const members = all.filter(([, { networks = [] }]) =>
      Array.isArray(networks) ? networks.includes('database') : 'database' in networks,
    )
    expect(members.map(([name]) => name)).toEqual(['database', 'management', 'cli'])
  })

  it('shares the decoded pictures with the engine read-only', () => {
    const mounts = all.flatMap(([name, { volumes = [] }]) =>
      volumes
        .filter(volume => typeof volume === 'string' && volume.startsWith('ring:'))
        .map(volume => [name, volume]),
    )
    expect(mounts).toEqual([
      ['init', 'ring:/run/eyrie/ring'],
      ['media', 'ring:/run/eyrie/ring'],
      ['engine', 'ring:/run/eyrie/ring:ro'],
    ])
  })

  it('multiplies the channels by the memory that the check at the start expects', () => {
    // "16" and "0m" are 160 MiB.
    expect(readText('compose.yaml')).toContain(
      `size=\${EYRIE_CHANNELS:-16}${RING_BYTES_PER_CHANNEL / (10 << 20) - 1}m`,
    )
    expect(16 * RING_BYTES_PER_CHANNEL + MEDIA_BASE_BYTES).toBeLessThan(parseSize('default', '2g'))
  })
})

describe('engines.yaml', () => {
  const overlay: { services: Record<string, Container> } = parse(
    readText('appliance/docker/engines.yaml'),
    {
      customTags: ['!override', '!reset'].flatMap(tag => [
        { tag, collection: 'map' as const },
        { tag, collection: 'seq' as const },
        { tag, resolve: (text: string) => (text === 'null' ? null : text) },
      ]),
    },
  )
  const engine = overlay.services.engine!

  it('gives each replica of the engine a volume, a folder of decoded pictures and a media service of its own', () => {
    const [volume, ...others] = engine.volumes!
    expect(volume).toBe('/var/lib/eyrie')
    expect(others).toEqual(
      ['eyrie.json', 'credentials'].map(name =>
        expect.objectContaining({ target: expect.stringContaining(name), read_only: true }),
      ),
    )
    expect(engine.tmpfs).toContainEqual(
      expect.stringContaining(`/run/eyrie/ring:size=\${EYRIE_CHANNELS:-16}0m`),
    )
    expect(engine).toMatchObject({ hostname: null, command: ['engine-media'] })
    expect(overlay.services.media).toEqual({ profiles: ['never'] })
  })

  it('starts them by the supervisor, as a machine without containers does', () => {
    expect(readTarget('engine-media')).toContain('CMD ["engine-media"]')
    expect(readText('appliance/docker/start')).toContain('program=appliance/engine-only.ts')
    expect(ENGINE_UNITS.map(({ name }) => name)).toEqual(['media', 'engine'])
  })

  it('publishes no port, and adds no rights', () => {
    for (const container of Object.values(overlay.services)) {
      expect(container.ports).toBeUndefined()
      expect(container.cap_add).toBeUndefined()
      expect(container.privileged).toBeUndefined()
    }
  })
})
