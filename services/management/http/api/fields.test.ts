import { expect, it } from 'vitest'
import { documentedFields } from '../../../../test/fixtures/management/documented-fields.ts'
import {
  type OperationCase,
  operationCases,
} from '../../../../test/fixtures/management/operation-cases.ts'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../test/fixtures/management/shared-management.ts'

const management = sharedManagement()
const records = sharedRecords(management)

const cases = new Map(operationCases.map(testCase => [testCase.name, testCase]))

/** Sends a request that is rejected. Returns the reason for each invalid field. */
async function requestFieldErrors({ route }: OperationCase, input: object) {
  const { status, message, response } = await management.send(route, input)
  const { fields = [] } = (response ?? {}) as { fields?: { field: string; reason: string }[] }
  const names = fields.map(({ field }) => field)
  expect(names).toEqual([...new Set(names)])
  expect(message).toBe(fields.map(({ field, reason }) => `${field}: ${reason}`).join('; '))
  return { status, reasons: Object.fromEntries(fields.map(({ field, reason }) => [field, reason])) }
}

const required = (fields: string[]) =>
  Object.fromEntries(fields.map(field => [field, 'is required']))

/** Fields that clients may send back as null, because responses contain null. */
const NULLABLE = [
  'user.update role_id',
  'token.create expires_at',
  'source.create source_fps',
  'source.update source_fps',
]

const getCase = (operation: string) => cases.get(operation)!
const validInput = (operation: string) =>
  getCase(operation).example.input!(records) as Record<string, unknown>

const withRequiredFields = documentedFields.filter(({ required: names }) => names.length > 0)

it.each(withRequiredFields)(
  '$operation requires exactly the fields documented as required',
  async testCase => {
    const operationCase = getCase(testCase.operation)
    expect(await requestFieldErrors(operationCase, {})).toEqual({
      status: 400,
      reasons: required(testCase.required),
    })
    for (const field of testCase.required) {
      const { [field]: _, ...incomplete } = validInput(testCase.operation)
      expect(await requestFieldErrors(operationCase, incomplete)).toEqual({
        status: 400,
        reasons: required([field]),
      })
    }
  },
)

it.each(documentedFields)(
  '$operation accepts exactly the documented optional fields',
  async testCase => {
    const { operation, optional } = testCase
    const invalid = Object.fromEntries(
      [...optional, 'unknown'].map(field => [field, { invalid: true }]),
    )
    const { status, reasons } = await requestFieldErrors(getCase(operation), {
      ...validInput(operation),
      ...invalid,
    })
    expect([status, reasons.unknown]).toEqual([400, 'unknown field'])
    for (const field of optional) expect(reasons[field]).not.toBe('unknown field')
  },
)

/** Operations with a body. Queries cannot contain null. */
const withBody = documentedFields.filter(({ operation }) => getCase(operation).route.body)

it.each(withBody)(
  '$operation rejects null in every field',
  async ({ operation, required: requiredFields, optional }) => {
    const { ignoredFields = [] } = getCase(operation).route
    for (const field of [...requiredFields, ...optional]) {
      if (ignoredFields.includes(field) || NULLABLE.includes(`${operation} ${field}`)) continue
      const { status, reasons } = await requestFieldErrors(getCase(operation), {
        ...validInput(operation),
        [field]: null,
      })
      expect([status, Object.keys(reasons)]).toEqual([400, [field]])
    }
  },
)
