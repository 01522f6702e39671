import { EyrieError } from '@eyrie/contract'
import type { ManagementRoute } from '@eyrie/contract/management/index'
import { findPostgresError } from '../../db/database-errors.ts'
import type { Principal } from '../../rights/principal.ts'

// The row-level security of the database decides which rows a caller may read and change. It denies
// changes in two ways. An update or delete of a row that the caller may only read succeeds, but
// changes no row. An insert or update with values that the caller may not write fails. In both
// cases Postgres does not say what is required. The errors in this file do.

/** The SQLSTATE `insufficient_privilege`: the new values of a row violate a policy. */
const INSUFFICIENT_PRIVILEGE = '42501'

/**
 * What a change of a record requires, by the first segment of the route's path. The texts describe
 * the policies in `0004_policies_and_triggers.sql`, and have to be updated when a policy changes.
 */
const REQUIREMENTS: Record<string, string> = {
  organization: 'the role admin in this organization',
  customer: 'the role admin in its organization, or the customer as an assignment',
  engine: 'the role admin in the organization that owns the engine',
  pipeline: 'the role admin in its organization, or all sites that it analyses as assignments',
  calendar:
    'the role admin in its organization, or for the calendar of a site, the site or its customer as an assignment',
  channel: 'its site or its customer as an assignment; the channel alone permits only reading',
}
/** The requirement for all other records, which belong to a site. */
const SITE_REQUIREMENT = 'its site or its customer as an assignment'

/**
 * The caller may read a record but not change it. `explainDenial` replaces this error by one that
 * says what the change requires.
 */
export class UnchangeableRecordError extends EyrieError {
  constructor() {
    super('rights', 'you may read this record but not change it')
  }
}

/**
 * Returns the first row that an update or delete has changed. Throws `UnchangeableRecordError` if
 * no row was changed. To be called only for a record that the caller may read.
 */
export function assertChanged<Row>([row]: Row[]): Row {
  if (row === undefined) throw new UnchangeableRecordError()
  return row
}

/**
 * Returns the error for the caller if row-level security has denied a change: what is denied, and
 * the role of the caller. Returns any other error unchanged.
 */
export function explainDenial(error: unknown, route: ManagementRoute, caller: Principal): unknown {
  const role = caller.role ?? 'none yet'
  if (error instanceof UnchangeableRecordError) return explainUnchangeable(error, route, role)
  if (findPostgresError(error)?.code === INSUFFICIENT_PRIVILEGE) {
    return explainViolation(error, route, role)
  }
  return error
}

function explainUnchangeable(
  error: UnchangeableRecordError,
  { path, summary }: ManagementRoute,
  role: string,
): EyrieError {
  const [, firstSegment = ''] = path.split('/')
  const requirement = REQUIREMENTS[firstSegment] ?? SITE_REQUIREMENT
  const reason = `${error.message}: "${summary}" requires ${requirement}. Your role is ${role}`
  return new EyrieError('rights', `${reason}: ask an administrator of the organization`, {
    cause: error,
  })
}

function explainViolation(cause: unknown, { summary }: ManagementRoute, role: string): EyrieError {
  const reason = `your role is ${role}, which covers only the records and users of your assignments`
  const remedy = 'Ask an administrator of the organization concerned'
  return new EyrieError('rights', `"${summary}" is outside of your rights: ${reason}. ${remedy}`, {
    cause,
  })
}
