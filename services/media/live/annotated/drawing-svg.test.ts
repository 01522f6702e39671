import { describe, expect, it } from 'vitest'
import { renderSvg } from './drawing-svg.ts'

const size = { width: 640, height: 480 }
const box = (label: string, y: number) => ({
  bbox: { x: 0.25, y, w: 0.5, h: 0.25 },
  label,
  colour: 'car',
})

describe('SVG drawing', () => {
  it('draws a box at its object in pixels', () => {
    const svg = renderSvg({ objects: [box('car 3', 0.5)], shapes: [] }, size)
    expect(svg).toContain('width="640" height="480"')
    expect(svg).toContain('<rect x="160" y="240" width="320" height="120"')
    expect(svg).toContain('>car 3</text>')
  })

  it('draws lines open and zones closed', () => {
    const points = [
      { x: 0, y: 0 },
      { x: 1, y: 0.5 },
    ]
    const svg = renderSvg({ objects: [], shapes: [{ name: 'door', type: 'line', points }] }, size)
    expect(svg).toContain('<polyline points="0,0 640,240"')
    expect(
      renderSvg({ objects: [], shapes: [{ name: 'hall', type: 'zone', points }] }, size),
    ).toContain('<polygon')
  })

  it('escapes labels', () => {
    const svg = renderSvg(
      { objects: [box('</text><image href="file:///etc/passwd"/>\u0000\ud800', 0.5)], shapes: [] },
      size,
    )
    expect(svg).not.toContain('<image')
    expect(svg).toContain('&#60;/text&#62;')
    expect(svg.isWellFormed()).toBe(true)
    expect(svg).not.toContain('\u0000')
  })

  it('moves a label at the upper edge into the picture', () => {
    const svg = renderSvg({ objects: [box('car', 0)], shapes: [] }, size)
    const [, y, letter] = /<text x="[\d.]+" y="([-\d.]+)"[^>]*font-size="(\d+)"/.exec(svg)!
    expect(Number(y)).toBeGreaterThanOrEqual(Number(letter))
  })
})
