/**
 * What the names of elements begin with that hang on a source's pipeline, but not on the way of its packets and frames:
 * when they fail, nothing else does.
 */
export const BESIDE = 'beside-'

export const isBeside = (error: { source: string | null }) => error.source?.startsWith(BESIDE) ?? false

/** What such a branch begins with: a failure behind it is none to the tee. */
export const guard = (name: string) => `errorignore name=${BESIDE}${name}-guard convert-to=ok`
