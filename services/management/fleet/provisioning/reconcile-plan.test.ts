import { describe, expect, it } from 'vitest'
import { findIntactObjects, type PlanInput, planReconciliation } from './reconcile-plan.ts'

interface Fields {
  name: string
  secret: string
}

const redact = (fields: Fields): Fields => ({ ...fields, secret: fields.secret && '***' })
const desired = (name: string, secret = '') => ({
  record_id: 'a',
  name: 'a',
  fields: { name, secret },
})
const provisioned = (name: string, secret = '', sid: number | null = 7) => ({
  record_id: 'a',
  sid,
  made_after: 5,
  applied: { name, secret },
})
const actual = (id: number, name: string, secret = '') => ({ id, name, secret, other: 'not ours' })

const plan = (input: Partial<PlanInput<Fields>>) =>
  planReconciliation({ desired: [], provisioned: [], actual: [], redact, repair: false, ...input })
const planSteps = (input: Partial<PlanInput<Fields>>) =>
  plan(input).steps.map(step => ({
    action: step.action,
    ...('fields' in step && { fields: step.fields }),
    ...('actual' in step && { id: step.actual.id }),
  }))

describe('reconciliation plan', () => {
  it('is empty when the engine matches the stored state', () => {
    const input = {
      desired: [desired('x', 's')],
      provisioned: [provisioned('x', 's')],
      actual: [actual(7, 'x', '***')],
    }
    expect(plan(input)).toEqual({ steps: [], drift: [] })
  })

  it('creates a new record', () => {
    expect(planSteps({ desired: [desired('x')], actual: [actual(7, 'x')] })).toEqual([
      { action: 'create' },
    ])
  })

  it('creates a missing object again', () => {
    expect(planSteps({ desired: [desired('x')], provisioned: [provisioned('x')] })).toEqual([
      { action: 'create' },
    ])
  })

  it('updates only the fields whose stored value has changed', () => {
    const input = {
      desired: [desired('y', 's')],
      provisioned: [provisioned('x', 's')],
      actual: [actual(7, 'x', '***')],
    }
    expect(planSteps(input)).toEqual([{ action: 'update', fields: { name: 'y' }, id: 7 }])
  })

  it('updates a changed secret that the engine does not show', () => {
    const input = {
      desired: [desired('x', 'new')],
      provisioned: [provisioned('x', 'old')],
      actual: [actual(7, 'x', '***')],
    }
    expect(planSteps(input)).toEqual([{ action: 'update', fields: { secret: 'new' }, id: 7 }])
  })

  it('removes the object of a deleted record', () => {
    expect(planSteps({ provisioned: [provisioned('x')], actual: [actual(7, 'x')] })).toEqual([
      { action: 'remove', id: 7 },
    ])
    expect(planSteps({ provisioned: [provisioned('x')] })).toEqual([{ action: 'discard' }])
  })

  it('ignores the objects of other clients', () => {
    expect(plan({ actual: [actual(1, 'theirs')] })).toEqual({ steps: [], drift: [] })
  })
})

describe('field changed on the engine', () => {
  const changed = {
    desired: [desired('x', 's')],
    provisioned: [provisioned('x', 's')],
    actual: [actual(7, 'theirs', '***')],
  }

  it('is reported as drift and not overwritten', () => {
    expect(plan(changed)).toEqual({
      steps: [],
      drift: [{ record_id: 'a', name: 'a', sid: 7, field: 'name', stored: 'x', found: 'theirs' }],
    })
  })

  it('is overwritten by a repair, together with all secrets', () => {
    expect(planSteps({ ...changed, repair: true })).toEqual([
      { action: 'update', fields: { name: 'x', secret: 's' }, id: 7 },
    ])
  })

  it('remains when another field of the record is updated', () => {
    const input = { ...changed, desired: [desired('x', 't')] }
    expect(plan(input)).toMatchObject({
      steps: [{ action: 'update', fields: { secret: 't' } }],
      drift: [{ field: 'name' }],
    })
  })
})

describe('object of an interrupted creation', () => {
  it('is recognized by its fields and by an id assigned after the creation started', () => {
    const input = { desired: [desired('x')], provisioned: [provisioned('x', '', null)] }
    expect(planSteps({ ...input, actual: [actual(4, 'x'), actual(6, 'x')] })).toEqual([
      { action: 'adopt', id: 6 },
    ])
    expect(planSteps({ ...input, actual: [actual(4, 'x')] })).toEqual([{ action: 'create' }])
  })

  it('is removed when its record has been deleted', () => {
    expect(
      planSteps({ provisioned: [provisioned('x', '', null)], actual: [actual(6, 'x')] }),
    ).toEqual([
      { action: 'adopt', id: 6 },
      { action: 'remove', id: 6 },
    ])
  })

  it('is never the object of another record', () => {
    const other = { ...provisioned('x', '', 6), record_id: 'b' }
    const input = {
      desired: [desired('x')],
      provisioned: [provisioned('x', '', null), other],
      actual: [actual(6, 'x')],
    }
    expect(planSteps(input)).toEqual([{ action: 'create' }, { action: 'remove', id: 6 }])
  })
})

describe('findIntactObjects', () => {
  it('returns only objects with the same id and the fields last written', () => {
    expect(
      findIntactObjects([provisioned('x', 's')], [actual(7, 'x', '***')], redact),
    ).toHaveLength(1)
    expect(findIntactObjects([provisioned('x')], [actual(7, 'another')], redact)).toEqual([])
    expect(findIntactObjects([provisioned('x')], [], redact)).toEqual([])
  })
})
