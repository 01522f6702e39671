import { describe, expect, it } from 'vitest'
import { findImports, findRelativeImports, productFiles, projectFiles, read } from './sources.ts'

const zod = /^zod$/
const croner = /^croner$/
const node = /^node:/
const contract = /^@eyrie\/contract(\/|$)/
const client = /^@eyrie\/client(\/|$)/
const element = /^@eyrie\/element(\/|$)/
const sdk = /^@eyrie\/(client|contract|element|license|model-store|plugin-signature)(\/|$)/
const kit = /^@eyrie\/kit(\/|$)/
const library = /^(?!node:|@eyrie\/|[./])/

/** The packages that each area may import. The first area that matches a file applies. */
const rules: { area: RegExp; allowed: RegExp[] }[] = [
  { area: /^sdk\/contract\//, allowed: [zod, croner] },
  // Tests read recordings and decode videos.
  { area: /^sdk\/element\/testing\//, allowed: [zod, contract, node] },
  { area: /^sdk\/element\//, allowed: [zod, contract] },
  { area: /^sdk\//, allowed: [sdk, node, library] },
  // `node:module` loads CommonJS libraries; it reads nothing else.
  { area: /^plugins\//, allowed: [element, library, /^node:module$/] },
  { area: /^examples\/plugins\//, allowed: [element] },
  { area: /^console\//, allowed: [contract, client, library] },
  { area: /^services\/kit\//, allowed: [contract, node, library] },
  { area: /^services\/media\//, allowed: [contract, kit, /^@eyrie\/node-gst$/, node, library] },
  { area: /^services\//, allowed: [sdk, kit, node, library] },
  { area: /^scene\//, allowed: [node, library] },
]

/** The package that a file belongs to: relative imports stay inside it. */
const packageFolder = (file: string) =>
  /^((services|plugins|sdk|examples\/plugins)\/[^/]+|[^/]+)\//.exec(file)?.[0] ?? ''

const product = productFiles()

describe('dependencies', () => {
  it.each(rules)('have a rule for an area that exists: $area', ({ area }) => {
    expect(product.some(file => area.test(file))).toBe(true)
  })

  it('are limited to the packages that an area may import', () => {
    const offences = product.flatMap(file => {
      const rule = rules.find(({ area }) => area.test(file))
      if (!rule) return []
      return findImports(file)
        .filter(
          module => !module.startsWith('.') && !rule.allowed.some(pattern => pattern.test(module)),
        )
        .map(module => `${file} imports ${module}`)
    })
    expect(offences).toEqual([])
  })

  it('leave a service, plugin or package by its package name only, never by a relative path', () => {
    const offences = product
      .filter(file => /^(services|plugins|sdk|console)\//.test(file))
      .flatMap(file =>
        findRelativeImports(file)
          .filter(target => !target.startsWith(packageFolder(file)))
          .map(target => `${file} imports ${target}`),
      )
    expect(offences).toEqual([])
  })
})

describe('the environment', () => {
  /**
   * The test kit runs in the test runner of an author, where `eyrie plugin test`
   * says how models are run.
   */
  const testKit = 'sdk/element/testing/real-models.ts'

  it('is read by entry points, the kit and the test kit of elements only', () => {
    const readers = product.filter(
      file =>
        /^(services|plugins|sdk)\//.test(file) &&
        /process\.env\b(?!\.\w+ = )/.test(read(file)) &&
        !/\/main\.ts$|^services\/kit\//.test(file) &&
        file !== testKit,
    )
    expect(readers).toEqual([])
  })
})

describe('connections of the services', () => {
  /** Files that open connections otherwise, and why. */
  const exceptions = [
    // The database, whose address is in the environment.
    'services/management/db/connection.ts',
    'services/management/db/database-errors.ts',
    // Opens its connections through the egress.
    'services/engine/sinks/embeddings/embedding-table.ts',
    // A library opens the connections to the trace collector, whose address is in the environment.
    'services/kit/open-telemetry.ts',
    // The multicast by which ONVIF devices are discovered, and probes of hosts that the
    // egress has resolved.
    'services/media/onvif/onvif-discovery.ts',
    // Sockets for messages, which connect to endpoints that the egress has pinned.
    'services/engine/sinks/messages/message-publisher.ts',
    'services/media/ingest/messages/message-receiver.ts',
    // Use sockets that the engine has opened.
    'services/engine/plugin-host/sandbox/process/element-process.ts',
    'services/engine/plugin-host/sandbox/process/inspect-process.ts',
    'services/engine/plugin-host/sandbox/process/inspector-thread.ts',
    // Calls the handler of a server, which is named fetch.
    'services/kit/protocol-errors.ts',
  ]

  const openers = [
    // Calls of the global function. Methods such as `media.fetch(…)` use the egress.
    /(?:\b(?:await|return|void)|=>|[=(,:?!]) *fetch\(/,
    /\bglobalThis\.fetch\b/,
    /\bnew (?:WebSocket|EventSource|Socket|HttpAgent|HttpsAgent)\(/,
    /\bundici\b/,
    /from 'node:(?:https?2?|dgram|tls|net|dns(?:\/promises)?)'/,
    /from '(?:postgres|zeromq|@opentelemetry\/exporter-trace-otlp-http)'/,
  ]

  /** Imports that open no connection. */
  const harmless =
    /import (?:type )?\{(?:\s*(?:type \w+(?: as \w+)?|BlockList|isIP|isIPv4|isIPv6|STATUS_CODES|maxHeaderSize|getCACertificates|setDefaultCACertificates|createServer(?: as \w+)?),?)+\s*\} from 'node:\w+'|import type [^'\n]*'/g

  it('are opened by services/kit/egress only, which checks their addresses', () => {
    const offences = product.filter(file => {
      if (
        !/^services\//.test(file) ||
        file.startsWith('services/kit/egress/') ||
        exceptions.includes(file)
      ) {
        return false
      }
      const code = read(file)
        .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
        .replace(harmless, '')
      return openers.some(pattern => pattern.test(code))
    })
    expect(offences).toEqual([])
  })

  it('have no exception for a file that does not need one', () => {
    expect(exceptions.filter(file => !openers.some(pattern => pattern.test(read(file))))).toEqual(
      [],
    )
  })
})

describe('sessions of ONNX Runtime', () => {
  it('are created by the model store only, which turns telemetry off', () => {
    const creators = projectFiles().filter(
      file => file.endsWith('.ts') && /InferenceSession\.create\(/.test(read(file)),
    )
    expect(creators).toEqual(['sdk/model-store/session.ts'])
  })
})
