import type { ServiceName } from './run.ts'

/**
 * The option of every process: without it, other processes of the user could open the
 * inspector with a signal.
 */
export const WITHOUT_INSPECTOR = '--disable-sigusr1'

/**
 * Under load, what requests have loaded while they wait for the database exceeds the memory of new
 * objects, 16 MB by default. It is then treated as old, and collecting that delays all other
 * requests by a quarter of a second, several times a minute.
 */
const MANAGEMENT = '--max-semi-space-size=64'

/** The options with which Node runs a service. */
export const listNodeOptions = (service: ServiceName): string[] =>
  service === 'management' ? [WITHOUT_INSPECTOR, MANAGEMENT] : [WITHOUT_INSPECTOR]
