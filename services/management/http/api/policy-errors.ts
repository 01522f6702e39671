import { EyrieError } from '@eyrie/contract'
import type { ManagementRoute } from '@eyrie/contract/management/index'
import { findPostgresError } from '../../db/database-errors.ts'
import type { Principal } from '../../rights/principal.ts'

/** The SQLSTATE `insufficient_privilege`: a row to insert or update violates a policy. */
const INSUFFICIENT_PRIVILEGE = '42501'
const DEFAULT_REQUIREMENT = 'its site or its customer as an assignment'

/**
 * The caller may read the record but not change it. Callers of the API receive the
 * explanation of `explainDenial`.
 */
export class UnchangeableRecordError extends EyrieError {
  constructor() {
    super('rights', 'you may read this record but not change it')
  }
}

/**
 * Returns the first row that an update or delete has changed. Throws `UnchangeableRecordError` if
 * no row was changed: the caller may read the record, because `assertReferencesExist` has found it,
 * but may not change it.
 */
export function assertChanged<Row>([row]: Row[]): Row {
  if (row === undefined) throw new UnchangeableRecordError()
  return row
}

/**
 * What the row-level security requires for a change, by the first segment of the path (see
 * `0004_policies_and_triggers.sql`).
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

/**
 * Returns the error for the caller if row-level security has denied a change. It says what the
 * change requires, and which role the caller has. Returns any other error unchanged.
 */
export function explainDenial(
  error: unknown,
  { path, summary }: ManagementRoute,
  caller: Principal,
): unknown {
  const role = caller.role ?? 'none yet'
  if (error instanceof UnchangeableRecordError) {
    const [, resource = ''] = path.split('/')
    const requirement = REQUIREMENTS[resource] ?? DEFAULT_REQUIREMENT
    const reason = `${error.message}: "${summary}" requires ${requirement}. Your role is ${role}`
    return new EyrieError('rights', `${reason}: ask an administrator of the organization`, {
      cause: error,
    })
  }
  if (findPostgresError(error)?.code !== INSUFFICIENT_PRIVILEGE) return error

  const reason = `your role is ${role}, which covers only the records and users of your assignments`
  const remedy = 'Ask an administrator of the organization concerned'
  return new EyrieError('rights', `"${summary}" is outside of your rights: ${reason}. ${remedy}`, {
    cause: error,
  })
}
