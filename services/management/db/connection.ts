import postgres, { type Options, type Sql } from 'postgres'
import type { ConnectionTarget } from './target.ts'

/** What is said of errors that the database has raised. */
export const shortWaitSeconds = 5

/** Connections to the database; they are made when they are needed. */
export function connect(target: ConnectionTarget, options: Options<Record<string, never>> = {}): Sql {
  const common = {
    onnotice: () => {},
    connect_timeout: shortWaitSeconds,
    // A server that is started again is asked again soon.
    backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, 1),
    ...options,
    connection: { application_name: 'eyrie-management', ...options.connection },
  }
  if (typeof target === 'string') return postgres(target, common)
  return postgres({ ...common, ...target, host: target.path, password: '' })
}
