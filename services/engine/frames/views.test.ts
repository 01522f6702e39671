import { type ViewSpec, viewSpec } from '@eyrie/contract/view'
import { describe, expect, it } from 'vitest'
import { viewKey } from './views.ts'

const view = (fields: Partial<ViewSpec>) => viewSpec.parse({ format: 'RGBP', ...fields })

describe('view key', () => {
  it('is the same for equal views regardless of property order', () => {
    expect(viewKey(view({ width: 416, multiple_of: 32 }))).toBe(
      viewKey({ ...view({ multiple_of: 32 }), width: 416 }),
    )
  })

  it('differs when any property differs', () => {
    const views = [
      view({ width: 416 }),
      view({ height: 416 }),
      view({ width: 416, height: 416 }),
      view({ scale: 0.5 }),
      view({ width: 416, multiple_of: 32 }),
      view({ width: 416, format: 'BGRP' }),
      view({ width: 416, fill: 114 }),
      view({ width: 416, letterbox: false }),
      view({}),
    ]
    expect(new Set(views.map(viewKey)).size).toBe(views.length)
  })
})
