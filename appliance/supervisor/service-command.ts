import { join } from 'node:path'
import type { Environment, SecretVariables, ServiceName } from '@eyrie/kit'
import { type Capability, createSetprivCommand } from '@eyrie/kit/accounts/setpriv'
import type { LaunchPolicy } from '@eyrie/kit/launcher/policy'
import { getDatabaseSocketFolder, getHome } from '../accounts/data-ownership.ts'
import { findCapabilities, type SeparatedServices } from '../accounts/separate-services.ts'
import type { Role } from '../accounts/service-accounts.ts'
import { findPrivileges } from '../accounts/service-separation.ts'
import type { ProcessCommand, ProcessContext } from '../process/supervised-process.ts'

/**
 * New files are writable for the group of the services, so that they can connect to
 * each other's sockets.
 */
const GROUP_UMASK = 0o002

/** The program of a service, and what the supervisor passes to it. */
export interface ServiceProgram {
  name: ServiceName
  args: string[]
  environment: NodeJS.ProcessEnv
  secrets: SecretVariables
  /** Returns what the program may use. Undefined: everything. */
  createPolicy?: () => LaunchPolicy
  /** Port on which the program listens. */
  port: number
}

/** Returns the command that starts a service as its user, with the privileges that it needs. */
export async function createServiceCommand(
  { port, ...program }: ServiceProgram,
  services: SeparatedServices,
  { data, databaseUrl, mediaRoots }: Environment,
): Promise<ProcessCommand> {
  const { name, environment } = program
  // If the supervisor does not run the database server, management starts the server itself, or
  // connects to a configured database.
  const isServerSupervised = services.databaseAccount !== undefined && databaseUrl === undefined
  const needsSocket = name === 'management' && isServerSupervised
  const variables = {
    ...environment,
    ...(needsSocket && { EYRIE_DATABASE_SOCKET: getDatabaseSocketFolder(data) }),
  }
  const privileges = findPrivileges(services.separation, name)
  const capabilities =
    privileges && (await findCapabilities(privileges, name, { port, mediaRoots }))
  const context = createProcessContext({ role: name, services, data, variables, capabilities })
  return { ...program, ...context }
}

export interface ProcessContextOptions {
  role: Role
  services: SeparatedServices
  /** The data folder. */
  data: string
  /** The environment variables of the program. */
  variables: NodeJS.ProcessEnv
  /** The capabilities that the program needs in addition to the rights of its user. */
  capabilities?: readonly Capability[]
}

/**
 * Returns the environment, the privileges and the umask with which a program runs as the user of a
 * role.
 */
export function createProcessContext({
  role,
  services,
  data,
  variables,
  capabilities = [],
}: ProcessContextOptions): ProcessContext {
  const privileges = findPrivileges(services.separation, role)
  const launcher = privileges && createSetprivCommand({ ...privileges, capabilities })
  const hasOwnUser = privileges?.account !== undefined
  if (hasOwnUser) {
    const environment = createOwnEnvironment(variables, data, role)
    return { environment, launcher, umask: GROUP_UMASK }
  }
  // The program runs as the user who starts the appliance, and uses a folder for compiled code that
  // this user has set.
  const environment = { NODE_COMPILE_CACHE: findCompileCache(data, role), ...variables }
  return { environment, ...(launcher && { launcher }) }
}

/**
 * Returns the environment of a service with a user of its own. Its home folder and its folder of
 * compiled code belong to this user.
 */
export const createOwnEnvironment = (
  variables: NodeJS.ProcessEnv,
  data: string,
  role: Role,
): NodeJS.ProcessEnv => ({
  ...variables,
  HOME: getHome(data, role),
  NODE_COMPILE_CACHE: findCompileCache(data, role),
})

/**
 * Returns the folder in which Node stores compiled code, so that services start faster and need
 * less memory. Media has none, because an attacker who takes over media by a stream could leave
 * code there that the next start would execute.
 */
const findCompileCache = (data: string, role: Role): string | undefined =>
  role === 'media' ? undefined : join(getHome(data, role), 'compiled')
