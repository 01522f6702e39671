import { describe, expect, it } from 'vitest'
import { createWakeUp } from './wake-up.ts'

describe('wake-up', () => {
  it('ends the pause of a turn that began before the notification', () => {
    const wakeUp = createWakeUp(new AbortController().signal)
    const signal = wakeUp.listen()
    expect(signal.aborted).toBe(false)
    wakeUp.notify()
    expect(signal.aborted).toBe(true)
  })

  it('does not end the pause of a turn that began after the notification', () => {
    const wakeUp = createWakeUp(new AbortController().signal)
    wakeUp.notify()
    expect(wakeUp.listen().aborted).toBe(false)
  })

  it('ends every pause when the loop must stop', () => {
    const stopping = new AbortController()
    const wakeUp = createWakeUp(stopping.signal)
    const signal = wakeUp.listen()
    stopping.abort()
    expect(signal.aborted).toBe(true)
    expect(wakeUp.listen().aborted).toBe(true)
  })
})
