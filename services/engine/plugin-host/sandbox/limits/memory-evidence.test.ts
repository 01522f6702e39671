import { describe, expect, it } from 'vitest'
import { MemoryEvidence } from './memory-evidence.ts'

const MIB = 2 ** 20

describe('evidence of the memory of a process', () => {
  it('changes no reason while the process uses little', () => {
    const evidence = new MemoryEvidence()
    evidence.sample(60 * MIB)
    evidence.inspect('low light')
    expect(evidence.explain('no answer within 1 s')).toBe('no answer within 1 s')
  })

  it('names the memory of a process that no longer answers', () => {
    const evidence = new MemoryEvidence()
    evidence.sample(490 * MIB)
    expect(evidence.explain('no answer within 1 s')).toBe(
      'no answer within 1 s, when it used 490 of its 512 MiB of memory',
    )
  })

  it.each([
    'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
    'RangeError: Array buffer allocation failed',
  ])('recognizes that the process has printed "%s"', text => {
    const evidence = new MemoryEvidence()
    evidence.inspect(text)
    expect(evidence.explain('its process was ended by SIGABRT')).toBe(
      'its process was ended by SIGABRT, because it has used up its 512 MiB of memory',
    )
  })

  it('is not added to a reason that names the memory', () => {
    const evidence = new MemoryEvidence()
    evidence.sample(600 * MIB)
    const reason = 'it uses 600 MiB of memory, more than 512'
    expect(evidence.explain(reason)).toBe(reason)
  })
})
