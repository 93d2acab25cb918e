// The process that checks a file for another one: question on standard input, answer on standard output.

import './checked-once.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { checkText, type Question } from './check.ts'

// Uses file descriptors: the streams of `process` would have to be loaded.
const question = JSON.parse(readFileSync(0, 'utf8')) as Question
writeFileSync(1, JSON.stringify(await checkText(question, process.env)))
