import { managementRoutes } from '@eyrie/contract/management/index'
import { asc } from 'drizzle-orm'
import { usecase } from '../../../db/schema/index.ts'
import { defineOperation } from '../../api/operation.ts'

export const usecaseOperations = [
  defineOperation(managementRoutes.usecase.list, async (_, tx) => ({
    value: await tx.select().from(usecase).orderBy(asc(usecase.usecase_name)),
  })),
]
