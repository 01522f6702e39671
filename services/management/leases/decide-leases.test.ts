import { describe, expect, it } from 'vitest'
import { decideLeases } from './decide-leases.ts'

const decide = (
  instanceId: string,
  instances: string,
  subjects: string,
  holders: Record<string, string>,
) =>
  decideLeases({
    instance_id: instanceId,
    instances: instances.split(' '),
    subjects: subjects.split(' ').filter(Boolean),
    holders: new Map(Object.entries(holders)),
  })

describe('the decision about leases', () => {
  it.each<[string, Parameters<typeof decide>, ReturnType<typeof decideLeases>]>([
    [
      'claims everything if the instance is alone',
      ['a', 'a', '1 2 3', {}],
      { claim: ['1', '2', '3'], release: [] },
    ],
    ['claims nothing without subjects', ['a', 'a b', '', {}], { claim: [], release: [] }],
    [
      'claims an equal share, rounded up',
      ['b', 'a b', '1 2 3', {}],
      { claim: ['3', '1'], release: [] },
    ],
    [
      'leaves alone what others hold',
      ['b', 'a b', '1 2 3 4', { 1: 'a', 2: 'a' }],
      { claim: ['3', '4'], release: [] },
    ],
    [
      'claims what an instance has left that no longer runs',
      ['b', 'b', '1 2', { 2: 'b' }],
      { claim: ['1'], release: [] },
    ],
    [
      'releases what exceeds the share when another instance starts',
      ['a', 'a b', '1 2 3', { 1: 'a', 2: 'a', 3: 'a' }],
      { claim: [], release: ['3'] },
    ],
    [
      'keeps a single subject where it is',
      ['a', 'a b', '1', { 1: 'a' }],
      { claim: [], release: [] },
    ],
  ])('%s', (_, state, decision) => {
    expect(decide(...state)).toEqual(decision)
  })

  it('assigns everything with any numbers, and then changes nothing', () => {
    for (let instanceCount = 1; instanceCount <= 5; instanceCount += 1) {
      for (let subjectCount = 0; subjectCount <= 12; subjectCount += 1) {
        const instances = Array.from({ length: instanceCount }, (_, n) => `instance ${n}`)
        const subjects = Array.from({ length: subjectCount }, (_, n) => `subject ${n}`)
        // All work begins at the first instance.
        const holders = new Map(subjects.map(subject => [subject, 'instance 0']))
        const advance = () => {
          let changes = 0
          for (const instanceId of instances) {
            const { claim, release } = decideLeases({
              instance_id: instanceId,
              instances,
              subjects,
              holders,
            })
            for (const subject of claim) holders.set(subject, instanceId)
            for (const subject of release) holders.delete(subject)
            changes += claim.length + release.length
          }
          return changes
        }
        advance()
        advance()
        expect(advance()).toBe(0)
        expect(holders.size).toBe(subjectCount)
        const counts = instances.map(
          id => [...holders.values()].filter(holder => holder === id).length,
        )
        expect(Math.max(...counts)).toBeLessThanOrEqual(Math.ceil(subjectCount / instanceCount))
      }
    }
  })
})
