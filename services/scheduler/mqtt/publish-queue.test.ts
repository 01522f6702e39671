import { describe, expect, it } from 'vitest'
import { createPublishQueue } from './publish-queue.ts'

const state = (topic: string, payload: string) => ({ topic, payload, kind: 'state' as const })
const event = (topic: string, payload: string) => ({ topic, payload, kind: 'event' as const })

describe('what waits for the MQTT broker', () => {
  it('is the newest state of each topic, and each event in order before the states', () => {
    const queue = createPublishQueue()
    for (let value = 0; value < 10_000; value += 1) queue.setState('count', String(value))
    queue.setState('door', 'ON')
    queue.addEvent('alerts', '1')
    queue.addEvent('alerts', '2')
    expect(queue.take(3)).toEqual([
      event('alerts', '1'),
      event('alerts', '2'),
      state('count', '9999'),
    ])
    expect(queue.take(3)).toEqual([state('door', 'ON')])
    expect(queue.take(3)).toEqual([])
  })

  it('does not contain a state that has not changed, except when all states are published again', () => {
    const queue = createPublishQueue()
    queue.setState('door', 'ON')
    queue.take(10)
    queue.setState('door', 'ON')
    expect(queue.take(10)).toEqual([])
    queue.republish()
    expect(queue.take(10)).toEqual([state('door', 'ON')])
  })

  it('is bounded: the oldest events are dropped and counted', () => {
    const queue = createPublishQueue(3)
    for (const number of [1, 2, 3, 4, 5]) queue.addEvent('alerts', String(number))
    expect(queue.countDropped()).toBe(2)
    const taken = queue.take(2)
    expect(taken.map(({ payload }) => payload)).toEqual(['3', '4'])
    queue.addEvent('alerts', '6')
    queue.putBack(taken)
    expect(queue.countDropped()).toBe(3)
    expect(queue.take(10).map(({ payload }) => payload)).toEqual(['4', '5', '6'])
  })

  it('contains the newest state after an attempt with an older one has failed', () => {
    const queue = createPublishQueue()
    queue.setState('door', 'ON')
    const taken = queue.take(1)
    queue.setState('door', 'OFF')
    queue.putBack(taken)
    expect(queue.take(10)).toEqual([state('door', 'OFF')])
  })

  it('removes a state with an empty message', () => {
    const queue = createPublishQueue()
    queue.setState('door', 'ON')
    queue.take(1)
    queue.removeState('door')
    expect(queue.take(10)).toEqual([state('door', '')])
    queue.republish()
    expect(queue.take(10)).toEqual([])
  })

  it('ends a wait when something is added, and when the wait is aborted', async () => {
    const queue = createPublishQueue()
    const added = queue.waitForPublications(new AbortController().signal)
    queue.setState('door', 'ON')
    await added
    queue.take(1)
    const aborting = new AbortController()
    const aborted = queue.waitForPublications(aborting.signal)
    aborting.abort()
    await aborted
    expect(queue.countWaitingEvents()).toBe(0)
  })
})
