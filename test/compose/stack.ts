import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { findFreePort } from '../fixtures/network/free-ports.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const MAX_OUTPUT_BYTES = 64 << 20

/**
 * The label of containers that belong to a stack, but not to the product. Its value is the project.
 */
export const PEER_LABEL = 'eyrie.test.project'

/**
 * The appliance in containers, as compose.yaml describes it, with a project name and ports of its
 * own.
 */
export interface Stack {
  readonly project: string
  /** Address of the console and its API on this machine. */
  readonly url: string
  /** A folder for files of this test; the backups are in it. */
  readonly folder: string
  /** Password of `admin@localhost`. */
  readonly password: string
  /** Variables of `.env`. Changes apply to the next command. */
  readonly variables: Record<string, string>
  /**
   * Runs `docker compose` and returns its output. Throws an `Error` with the output if it fails.
   */
  compose(...args: string[]): Promise<string>
  docker(...args: string[]): Promise<string>
  /** Returns the id of the container of a service. */
  findContainer(service: string): Promise<string>
  /** Returns the containers of the services that are running. */
  listRunning(): Promise<{ service: string; health: string; restarts: number }[]>
  /** Removes the servers that the services talk to, which would keep their network in use. */
  removePeers(): Promise<void>
  /** Removes the containers, the volumes and the folder. */
  remove(): Promise<void>
}

export interface StackOptions {
  /** Tag of the images. */
  version: string
  /** Further variables of `.env`. */
  variables?: Record<string, string>
}

const PASSWORD = 'correct horse battery staple'

/** Prepares a stack; `compose('up')` starts it. */
export async function createStack({ version, variables = {} }: StackOptions): Promise<Stack> {
  const folder = mkdtempSync(join(tmpdir(), 'eyrie-compose-'))
  const project = `eyrie-test-${process.pid}-${randomUUID().slice(0, 8)}`
  const port = await findFreePort()
  for (const name of ['secrets', 'backups']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'secrets/EYRIE_ADMIN_PASSWORD'), `${PASSWORD}\n`)
  writeFileSync(join(folder, 'eyrie.json'), '{}\n')

  const all: Record<string, string> = {
    EYRIE_VERSION: version,
    EYRIE_PORT: String(port),
    EYRIE_WEBRTC_PORT: String(await findFreePort()),
    EYRIE_SECRETS: join(folder, 'secrets'),
    EYRIE_BACKUPS: join(folder, 'backups'),
    EYRIE_SETTINGS: join(folder, 'eyrie.json'),
    EYRIE_GRAFANA_PORT: String(await findFreePort()),
    ...variables,
  }

  async function run(args: string[]): Promise<string> {
    const options = { cwd: ROOT, maxBuffer: MAX_OUTPUT_BYTES, env: { ...process.env, ...all } }
    try {
      const { stdout } = await promisify(execFile)('docker', args, options)
      return stdout
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
      throw new Error(`docker ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error })
    }
  }
  const compose = (...args: string[]) => run(['compose', '--project-name', project, ...args])
  const findContainer = async (service: string) =>
    (await compose('ps', '--all', '--quiet', service)).trim().split('\n')[0] ?? ''

  async function removePeers() {
    const listed = await run([
      'ps',
      '--all',
      '--quiet',
      '--filter',
      `label=${PEER_LABEL}=${project}`,
    ])
    const ids = listed.trim().split('\n').filter(Boolean)
    if (ids.length > 0) await run(['rm', '--force', '--volumes', ...ids])
  }

  return {
    project,
    url: `http://127.0.0.1:${port}`,
    folder,
    password: PASSWORD,
    variables: all,
    compose,
    docker: (...args) => run(args),
    findContainer,
    async listRunning() {
      const ids = (await compose('ps', '--quiet')).trim().split('\n').filter(Boolean)
      if (ids.length === 0) return []
      const inspected = containers.parse(JSON.parse(await run(['inspect', ...ids])))
      return inspected.map(({ Config, State, RestartCount }) => ({
        service: Config.Labels['com.docker.compose.service'] ?? '',
        health: State.Health?.Status ?? 'none',
        restarts: RestartCount,
      }))
    },
    removePeers,
    async remove() {
      await removePeers()
      await compose('--profile', '*', 'down', '--volumes', '--timeout', '10')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const containers = z.array(
  z.object({
    RestartCount: z.number(),
    Config: z.object({ Labels: z.record(z.string(), z.string()) }),
    State: z.object({ Health: z.object({ Status: z.string() }).optional() }),
  }),
)
