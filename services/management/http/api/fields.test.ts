import { expect, it } from 'vitest'
import { type ManagementCase, managementCases } from '../../../../test/fixtures/management-cases.ts'
import { documentedFields } from '../../../../test/fixtures/management-fields.ts'
import { sharedManagement, sharedRecords } from '../../../../test/fixtures/shared-management.ts'

const its = sharedManagement()
const records = sharedRecords(its)

const cases = new Map(managementCases.map(each => [each.name, each]))

/** What the answer to a request finds wrong, by field. */
async function faultsOf({ route }: ManagementCase, input: object) {
  const { status, message, response } = await its.send(route, input)
  const { fields = [] } = (response ?? {}) as { fields?: { field: string; reason: string }[] }
  const names = fields.map(({ field }) => field)
  expect(names).toEqual([...new Set(names)])
  expect(message).toBe(fields.map(({ field, reason }) => `${field}: ${reason}`).join('; '))
  return { status, reasons: Object.fromEntries(fields.map(({ field, reason }) => [field, reason])) }
}

const required = (fields: string[]) => Object.fromEntries(fields.map(field => [field, 'is required']))

/** Of what has been read, and may be sent back, there may be nothing. */
const NULLABLE = [
  'user.update role_id',
  'token.create expires_at',
  'source.create source_fps',
  'source.update source_fps',
]

const caseOf = (operation: string) => cases.get(operation)!
const validFor = (operation: string) => caseOf(operation).example.input!(records) as Record<string, unknown>

const needing = documentedFields.filter(({ required: needed }) => needed.length > 0)

it.each(needing)('$operation needs exactly the fields that are documented as required', async given => {
  const tried = caseOf(given.operation)
  expect(await faultsOf(tried, {})).toEqual({ status: 400, reasons: required(given.required) })
  for (const field of given.required) {
    const { [field]: _, ...lacking } = validFor(given.operation)
    expect(await faultsOf(tried, lacking)).toEqual({ status: 400, reasons: required([field]) })
  }
})

it.each(documentedFields)('$operation knows what may be left out, and no other field', async given => {
  const { operation, optional } = given
  const strange = Object.fromEntries([...optional, 'stranger'].map(field => [field, { strange: true }]))
  const { status, reasons } = await faultsOf(caseOf(operation), { ...validFor(operation), ...strange })
  expect([status, reasons.stranger]).toEqual([400, 'unknown field'])
  for (const field of optional) expect(reasons[field]).not.toBe('unknown field')
})

/** In a query there is no null. */
const byBody = documentedFields.filter(({ operation }) => caseOf(operation).route.body)

it.each(byBody)('$operation takes null for no field', async ({ operation, required: needed, optional }) => {
  const { ignoredFields = [] } = caseOf(operation).route
  for (const field of [...needed, ...optional]) {
    if (ignoredFields.includes(field) || NULLABLE.includes(`${operation} ${field}`)) continue
    const { status, reasons } = await faultsOf(caseOf(operation), { ...validFor(operation), [field]: null })
    expect([status, Object.keys(reasons)]).toEqual([400, [field]])
  }
})
