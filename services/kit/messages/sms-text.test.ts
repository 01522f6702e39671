import { describe, expect, it } from 'vitest'
import { measureSms, toSmsText } from './sms-text.ts'

describe('the size of an SMS', () => {
  it.each([
    ['', 'GSM-7', 0, 1],
    ['a'.repeat(160), 'GSM-7', 160, 1],
    ['a'.repeat(161), 'GSM-7', 161, 2],
    ['a'.repeat(306), 'GSM-7', 306, 2],
    ['a'.repeat(307), 'GSM-7', 307, 3],
    ['@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ¤ÄÖÑÜ§¿äöñüà', 'GSM-7', 41, 1],
    ['€'.repeat(80), 'GSM-7', 160, 1],
    ['€'.repeat(81), 'GSM-7', 162, 2],
    ['^{}\\[~]|€\f', 'GSM-7', 20, 1],
    ['ç'.repeat(70), 'UCS-2', 70, 1],
    ['ç'.repeat(71), 'UCS-2', 71, 2],
    ['ж'.repeat(134), 'UCS-2', 134, 2],
    ['ж'.repeat(135), 'UCS-2', 135, 3],
    ['🚨'.repeat(35), 'UCS-2', 70, 1],
    ['🚨'.repeat(36), 'UCS-2', 72, 2],
  ])('of %j is counted as %s with %i units in %i messages', (text, encoding, units, segments) => {
    expect(measureSms(text)).toEqual({ encoding, units, segments })
  })

  it('does not split an escaped character or a surrogate pair between two messages', () => {
    // 152 septets and an escaped character do not fit into the 153 of one message.
    expect(measureSms(`${'a'.repeat(152)}€${'a'.repeat(152)}`).segments).toBe(3)
    expect(measureSms(`${'ж'.repeat(66)}🚨${'ж'.repeat(66)}`).segments).toBe(3)
  })
})

describe('the text of an SMS', () => {
  it('remains unchanged if it fits', () => {
    expect(toSmsText('Nobody at the door', 1)).toBe('Nobody at the door')
  })

  it('uses characters of GSM-7 in place of typographic ones, unless others need UCS-2 anyway', () => {
    expect(toSmsText('total ≥ 5 – “Door”…', 1)).toBe('total >= 5 - "Door"...')
    expect(toSmsText('Дверь ≥ 5', 1)).toBe('Дверь ≥ 5')
  })

  it('is cut at the end of a word and ends with an ellipsis of its encoding', () => {
    const text = toSmsText('word '.repeat(100), 1)
    expect(text).toMatch(/^(word )+word\.\.\.$/)
    expect(measureSms(text)).toMatchObject({ encoding: 'GSM-7', segments: 1 })
    expect(measureSms(text).units).toBeGreaterThan(150)
    const cyrillic = toSmsText('слово '.repeat(100), 2)
    expect(cyrillic).toMatch(/^(слово )+слово…$/)
    expect(measureSms(cyrillic)).toMatchObject({ encoding: 'UCS-2', segments: 2 })
  })

  it('is cut within a word that is longer than half of it', () => {
    const text = toSmsText(`see ${'x'.repeat(500)}`, 1)
    expect(text).toBe(`see ${'x'.repeat(153)}...`)
  })

  it('never has more messages than permitted, and loses less than a word', () => {
    const words = ['€', '🚨', 'ж', 'a', 'abcdefgh', '\n', '≥', '  ', '{}']
    for (let seed = 1; seed <= 300; seed += 1) {
      const text = Array.from(
        { length: seed * 3 },
        (_, i) => words[(i * i + seed * 7) % words.length],
      ).join(' ')
      for (const limit of [1, 2, 3]) {
        const size = measureSms(toSmsText(text, limit))
        expect(size.segments).toBeLessThanOrEqual(limit)
      }
    }
  })
})
