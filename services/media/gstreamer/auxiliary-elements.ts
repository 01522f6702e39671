/**
 * Name prefix of auxiliary elements: those on a source's pipeline that neither its packets nor its frames pass through.
 * Their failures affect nothing else. Short, since Linux keeps only 15 characters of a thread's name.
 */
export const AUXILIARY = 'aux-'

export const isAuxiliary = (error: { source: string | null }) => error.source?.startsWith(AUXILIARY) ?? false

/** The first element of an auxiliary branch: hides failures downstream from the tee. */
export const errorGuard = (name: string) => `errorignore name=${AUXILIARY}${name}-guard convert-to=ok`
