// @module-tag long

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { OutputMessage } from '@eyrie/contract'
import { SDK_VERSION } from '@eyrie/contract/sdk-version'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { buildSdkPackage } from '../../sdk/cli/sdk-package/build-sdk-package.ts'
import { followOutput } from '../fixtures/engine/followed-output.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { parseExposition } from '../fixtures/network/prometheus.ts'
import { runEyrieCommand } from '../fixtures/processes/command-line.ts'
import { type EngineProcess, startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { type MediaProcess, startMediaProcess } from '../fixtures/processes/media-process.ts'

// An author develops outside of the checkout, and uploads to an engine that analyses a test
// picture: a white ball on black.

const LIMIT_MS = 180_000
const root = resolve(import.meta.dirname, '../..')

let folder: string
let media: MediaProcess
let engine: EngineProcess
let messages: readonly OutputMessage[]

const until = (condition: () => unknown) =>
  vi.waitUntil(condition, { timeout: LIMIT_MS, interval: 50 })
const eyrie = (...args: string[]) =>
  runEyrieCommand(args, {
    data: join(folder, 'data'),
    environment: { EYRIE_ENGINE_URL: engine.url },
  })

/** The events of a type, from message number `from` on. */
const findEvents = (type: string, from = 0) =>
  messages
    .slice(from)
    .flatMap(message =>
      message.kind === 'event' && message.data.type === type ? [message.data] : [],
    )

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-author-'))
  media = await startMediaProcess()
  engine = await startEngineProcess({ data: join(folder, 'data'), media })
  messages = await followOutput(engine.api, ['event', 'state'])
}, LIMIT_MS)

afterAll(async () => {
  await engine.stop()
  await media.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function deploy(
  ...elements: { name: string; args?: Record<string, unknown> }[]
): Promise<void> {
  const sources = [{ type: 'inf' as const, address: SMALL_PICTURE }]
  await engine.api.deploy([{ sources, sinks: [], elements }])
}

describe('the package @eyrie/element', () => {
  let project: string
  /** Runs a program in the project. npm finds nothing in its cache, and does not ask a registry. */
  const runIn = async (cwd: string, program: string, ...args: string[]) => {
    const env = {
      ...process.env,
      npm_config_cache: join(folder, 'npm-cache'),
      npm_config_offline: 'true',
    }
    const running = promisify(execFile)(program, args, { cwd, env, encoding: 'utf8' })
    const { stdout } = await running.catch(({ message, stdout }) => {
      throw new Error(`${message}\n${stdout}`)
    })
    return stdout
  }
  const npmPack = async (source: string) => {
    const [packed] = JSON.parse(
      await runIn(
        folder,
        'npm',
        'pack',
        source,
        '--json',
        '--ignore-scripts',
        '--pack-destination',
        folder,
      ),
    )
    return join(folder, packed.filename)
  }

  beforeAll(async () => {
    await buildSdkPackage(join(folder, 'sdk'))
    const archives = [
      await npmPack(join(folder, 'sdk')),
      await npmPack(join(root, 'node_modules/zod')),
    ]
    project = join(folder, 'turnstile')
    mkdirSync(project)
    const files = ['plugin.json', '*.js']
    writePackage({ name: 'turnstile', version: '1.0.0', type: 'module', files })
    await runIn(
      project,
      'npm',
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      ...archives,
    )
  }, LIMIT_MS)

  const writePackage = (content: object) =>
    writeFileSync(join(project, 'package.json'), JSON.stringify(content))

  it('is installed by npm with nothing but its types, its code and zod', async () => {
    const installed = join(project, 'node_modules')
    expect(
      readdirSync(installed)
        .filter(name => !name.startsWith('.'))
        .sort(),
    ).toEqual(['@eyrie', 'zod'])
    expect(readdirSync(join(installed, '@eyrie'))).toEqual(['element'])
    const { version, exports } = JSON.parse(
      readFileSync(join(installed, '@eyrie/element/package.json'), 'utf8'),
    )
    expect(version).toBe(SDK_VERSION)
    const imported = await runIn(
      project,
      process.execPath,
      '--input-type=module',
      '--eval',
      `for (const name of ${JSON.stringify(Object.keys(exports))}) if (!name.endsWith('json'))
         console.log(name, Object.keys(await import('@eyrie/element' + name.slice(1))).length > 0)`,
    )
    expect(imported.trim().split('\n')).toEqual(
      ['.', './generate', './testing', './tracking'].map(name => `${name} true`),
    )
    const sources = readdirSync(join(installed, '@eyrie/element'), {
      recursive: true,
      encoding: 'utf8',
    })
      .filter(file => /\.(js|ts)$/.test(file))
      .map(file => readFileSync(join(installed, '@eyrie/element', file), 'utf8'))
    expect(sources.filter(code => /from '(@eyrie\/contract|[^']*\.ts')/.test(code))).toEqual([])
  })

  it(
    'compiles a strict element, which npm packs and the engine runs',
    async () => {
      writeFileSync(join(project, 'limit.ts'), 'export const DEFAULT_LIMIT: number = 3\n')
      writeFileSync(
        join(project, 'element.ts'),
        `import { defineElement, definePlugin, z, type Frame } from '@eyrie/element'
         import { DEFAULT_LIMIT } from './limit.js'

         const turnstile = defineElement({
           args: z.strictObject({ limit: z.int().default(DEFAULT_LIMIT) }),
           config: z.strictObject({ place: z.string() }),
           events: { turned: z.object({ frames: z.int(), place: z.string() }) },
           open({ args, config, clock }) {
             let frames = 0
             const limit: number = args.limit
             const place: string | undefined = config?.place
             // @ts-expect-error there is no such argument
             void args.maximum
             return {
               process(_: Frame) {
                 frames += 1
                 if (frames !== limit) return {}
                 return { events: [{ type: 'turned', frames, place: place ?? \`at \${clock.seconds > 0}\` }] }
               },
             }
           },
         })

         const events = { turned: z.object({ frames: z.int() }) }
         const args = z.strictObject({})
         defineElement({
           args,
           events,
           state: () => ({ frames: 0 }),
           process: (_, { state }) => ({ events: [{ type: 'turned', frames: state.frames }] }),
         })
         defineElement({
           args,
           events,
           // @ts-expect-error there is no such event
           process: () => ({ events: [{ type: 'moved', frames: 1 }] }),
         })
         defineElement({
           args,
           events,
           // @ts-expect-error the number of frames is a number
           process: () => ({ events: [{ type: 'turned', frames: '1' }] }),
         })
         defineElement({
           args,
           state: () => ({ frames: 0 }),
           // @ts-expect-error the state has no such field
           process: (_, { state }) => ({ counters: { all: { total: state.total } } }),
         })
         export default definePlugin({ turnstile })
        `,
      )
      // Options of a new project, without any for the SDK. Its types are checked too.
      const compilerOptions = {
        target: 'ES2024',
        module: 'NodeNext',
        strict: true,
        types: [],
        skipLibCheck: false,
      }
      writeFileSync(
        join(project, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, include: ['*.ts'] }),
      )
      await runIn(project, process.execPath, join(root, 'node_modules/typescript/bin/tsc'))

      const element = {
        name: 'turnstile',
        title: 'Turnstile',
        description: 'Turns',
        passthrough: true,
        runs: 'worker',
      }
      const manifest = {
        ...{ name: 'turnstile', version: '1.0.0', license: 'MIT', sdk: `^${SDK_VERSION}` },
        ...{ entry: 'element.js', elements: [element] },
      }
      writeFileSync(join(project, 'plugin.json'), JSON.stringify(manifest))
      await runIn(project, process.execPath, 'node_modules/.bin/eyrie-generate', '.')

      const added = await eyrie('plugin', 'add', await npmPack(project))
      expect(added).toMatchObject({
        code: 0,
        out: expect.stringContaining('added turnstile 1.0.0'),
      })
      await deploy({ name: 'turnstile' })
      await until(() => findEvents('turned').length > 0)
      expect(findEvents('turned')[0]).toMatchObject({ frames: 3, place: 'at true' })
    },
    LIMIT_MS,
  )
})

describe('a plugin that eyrie plugin create has made', () => {
  it(
    'runs in the engine, and each upload of its development version replaces the previous one',
    async () => {
      const project = join(folder, 'night-watch')
      const created = await eyrie('plugin', 'create', project, '--reads', 'pictures')
      expect(created).toMatchObject({ code: 0, err: '' })
      const added = await eyrie('plugin', 'add', project)
      expect(added).toMatchObject({
        code: 0,
        out: expect.stringContaining('added night-watch 1.0.0-dev'),
      })
      await deploy({ name: 'night-watch', args: { limit: 0.5 } })
      await until(() => findEvents('dark').length > 0)

      await vi.waitUntil(
        async () => {
          const response = await fetch(`${engine.url}/metrics`)
          const samples =
            parseExposition(await response.text()).get('eyrie_engine_element_value')?.samples ?? []
          return [...samples].some(
            ([labels, value]) =>
              /element="night-watch",metric="brightness"/.test(labels) && value > 0,
          )
        },
        { timeout: LIMIT_MS, interval: 100 },
      )

      const file = join(project, 'element.ts')
      const code = readFileSync(file, 'utf8')
      // The new code continues with the state of the previous one, in which it is dark.
      writeFileSync(
        file,
        code.replace('state.isDark = brightness < args.limit', 'state.isDark = false'),
      )
      const updated = await eyrie('plugin', 'add', project)
      expect(updated.out).toContain('updated night-watch 1.0.0-dev; 1.0.0-dev is active')
      await until(() => findEvents('bright').length > 0)

      writeFileSync(
        file,
        code.replace('const pixels = picture!.data', 'const pixels = (picture as any).pixels.data'),
      )
      const line =
        readFileSync(file, 'utf8')
          .split('\n')
          .findIndex(text => text.includes('.pixels.data')) + 1
      expect((await eyrie('plugin', 'add', project)).code).toBe(0)
      const located = new RegExp(
        `night-watch: Cannot read properties of undefined .*\\(element\\.ts:${line}:\\d+\\)`,
      )
      await until(() =>
        messages.some(
          message => message.kind === 'state' && located.test(String(message.data.reason)),
        ),
      )
    },
    LIMIT_MS,
  )

  it('is refused without schemas, with the command that writes them', async () => {
    const project = join(folder, 'night-watch')
    const manifest = JSON.parse(readFileSync(join(project, 'plugin.json'), 'utf8'))
    delete manifest.elements[0].params_schema
    writeFileSync(join(project, 'plugin.json'), JSON.stringify(manifest))
    const added = await eyrie('plugin', 'add', project)
    expect(added).toMatchObject({ code: 1, err: expect.stringContaining('eyrie plugin generate') })
  })
})
