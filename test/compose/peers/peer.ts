import { resolve } from 'node:path'
import { GenericContainer, type StartedTestContainer } from 'testcontainers'
import { PEER_LABEL, type Stack } from '../stack.ts'

/**
 * The servers that the appliance talks to are containers of testcontainers in the
 * network of the services.
 */

// The reaper of testcontainers is an image that not every machine can pull.
// Stack.removePeers() replaces it.
process.env.TESTCONTAINERS_RYUK_DISABLED = 'true'

const IMAGE = 'eyrie/test-peers'
const PACKAGES = resolve(import.meta.dirname, '../../../node_modules')
const START_LIMIT_MS = 600_000

export interface PeerOptions {
  /** Name by which the services reach it. */
  name: string
  port: number
  command: string[]
  /** A file of this folder that the command reads below /peer. */
  file?: string
}

/** Places a container in the network of the services, which exists. */
export function joinServices<Container extends GenericContainer>(
  container: Container,
  { project }: Stack,
  name: string,
): Container {
  return container
    .withName(`${project}-${name}`)
    .withLabels({ [PEER_LABEL]: project })
    .withNetworkMode(`${project}_services`)
    .withNetworkAliases(name)
    .withStartupTimeout(START_LIMIT_MS)
}

/** Starts a server, and resolves when it listens. */
export function startPeer(
  stack: Stack,
  { name, port, command, file }: PeerOptions,
): Promise<StartedTestContainer> {
  const files = file
    ? [{ source: resolve(import.meta.dirname, file), target: `/peer/${file}` }]
    : []
  return joinServices(new GenericContainer(IMAGE), stack, name)
    .withBindMounts([{ source: PACKAGES, target: '/peer/node_modules', mode: 'ro' }])
    .withCopyFilesToContainer(files)
    .withCommand(command)
    .withExposedPorts(port)
    .start()
}
