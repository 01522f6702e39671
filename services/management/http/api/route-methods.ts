import type { ManagementRoute } from '@eyrie/contract/management/index'

export type Method = 'get' | 'post'

/**
 * The methods by which a route is called: what a create's `Location` names can be read from there, so that where that is a
 * POST, it is a GET too, with the fields of the body as its parameters.
 */
export function methodsOf({ method, path }: ManagementRoute, all: readonly ManagementRoute[]): Method[] {
  const isNamed = all.some(({ readBack }) => readBack?.path === path)
  return method === 'post' && isNamed ? ['get', 'post'] : [method]
}
