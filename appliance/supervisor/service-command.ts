import { join } from 'node:path'
import type { Environment, SecretVariables, ServiceName } from '@eyrie/kit'
import { type Capability, createSetprivCommand } from '@eyrie/kit/accounts/setpriv'
import type { LaunchPolicy } from '@eyrie/kit/launcher/policy'
import { getDatabaseSocketFolder, getHome } from '../accounts/data-ownership.ts'
import { findCapabilities, type SeparatedServices } from '../accounts/separate-services.ts'
import type { Role } from '../accounts/service-accounts.ts'
import { findPrivileges } from '../accounts/service-separation.ts'
import type { ProcessCommand, ProcessSurroundings } from '../process/supervised-process.ts'

/** Lets the group of the services connect to sockets of each other. */
const GROUP_UMASK = 0o002

/** The program of a service, and what it gets from the supervisor. */
export interface ServiceProgram {
  name: ServiceName
  args: string[]
  environment: NodeJS.ProcessEnv
  secrets: SecretVariables
  /** Returns what it may use. */
  createPolicy?: () => LaunchPolicy
  /** Port on which it listens. */
  port: number
}

/** Returns the command that starts a service as its user, with the privileges that it needs. */
export async function createServiceCommand(
  { port, ...program }: ServiceProgram,
  services: SeparatedServices,
  environment: Environment,
): Promise<ProcessCommand> {
  const { name } = program
  const { data, databaseUrl, mediaRoots } = environment
  const isAttached = name === 'management' && services.databaseAccount && databaseUrl === undefined
  const variables = {
    ...program.environment,
    ...(isAttached && { EYRIE_DATABASE_SOCKET: getDatabaseSocketFolder(data) }),
  }
  const privileges = findPrivileges(services.separation, name)
  const capabilities = privileges && (await findCapabilities(privileges, name, { port, mediaRoots }))
  return { ...program, ...createSurroundings(name, services, environment, variables, capabilities) }
}

/** Returns how a program runs as the user of a role. */
export function createSurroundings(
  role: Role,
  { separation }: SeparatedServices,
  { data }: Environment,
  environment: NodeJS.ProcessEnv,
  capabilities: readonly Capability[] = [],
): ProcessSurroundings {
  const privileges = findPrivileges(separation, role)
  const cached = { NODE_COMPILE_CACHE: findCompileCache(data, role), ...environment }
  if (!privileges) return { environment: cached }
  const launcher = createSetprivCommand({ ...privileges, capabilities })
  if (!privileges.account) return { environment: cached, launcher }
  return { environment: createOwnEnvironment(environment, data, role), launcher, umask: GROUP_UMASK }
}

/** A service with its own user has its own home, and shares no compiled code with programs of root. */
export const createOwnEnvironment = (
  environment: NodeJS.ProcessEnv,
  data: string,
  role: Role,
): NodeJS.ProcessEnv => ({
  ...environment,
  HOME: getHome(data, role),
  NODE_COMPILE_CACHE: findCompileCache(data, role),
})

/**
 * Returns the folder in which Node keeps compiled code, with which services start faster and need less memory. Media has none:
 * a stream that takes media over could otherwise leave code there, which the next start would execute.
 */
const findCompileCache = (data: string, role: Role): string | undefined =>
  role === 'media' ? undefined : join(getHome(data, role), 'compiled')
