// The process that checks a file for another: question on standard input, answer on standard output.

import { text } from 'node:stream/consumers'
import { checkText, type Question } from './check.ts'

const question = JSON.parse(await text(process.stdin)) as Question
process.stdout.write(JSON.stringify(await checkText(question, process.env)))
