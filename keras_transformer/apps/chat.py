"""The conversation: a prompt on a terminal, or a line in and a line out."""

from prompt_toolkit import PromptSession
from prompt_toolkit.history import InMemoryHistory

from keras_transformer.chatbot import Chatbot

HELP = """\
Type a question and press Enter.  질문을 입력하고 Enter를 누르세요.
  /again   answer the last question once more   마지막 질문에 다시 답하기
  /help    this list                            이 도움말
  /quit    leave (or Ctrl-D, Ctrl-C)            나가기"""
GOODBYE = "Goodbye!  안녕히 가세요!"


def talk(run_dir):
    """Chats on a terminal until the user leaves."""
    print(f"Loading {run_dir} …", flush=True)
    bot = Chatbot.load(run_dir)
    bot.reply("안녕 hello")  # Compiles the decoder now, so that the first question need not wait.
    print(f"{HELP}\n")
    prompt = PromptSession(history=InMemoryHistory())
    last = ""
    while True:
        try:
            line = prompt.prompt("> ").strip()
        except (EOFError, KeyboardInterrupt):
            break
        if line == "/quit":
            break
        if line == "/again":
            line = last
            print(last or "Nothing was asked yet.")
        if line.startswith("/"):
            print(HELP if line == "/help" else f"There is no {line}; /help lists what there is.")
        elif line:
            last = line
            show_answer(bot, line)
    print(GOODBYE)


def show_answer(bot, question):
    """Prints an answer token by token; Ctrl-C ends the answer, not the conversation."""
    if unknown := unknown_only(bot, question):
        print(unknown)
        return
    try:
        for text in bot.stream(question):
            print(text, end="", flush=True)
    except KeyboardInterrupt:
        print(" …", end="")
    print()


def answer_lines(run_dir, questions):
    """Prints one answer for each question as it comes, and nothing else."""
    bot = Chatbot.load(run_dir)
    for question in questions:
        print(unknown_only(bot, question) or bot.reply(question), flush=True)


def unknown_only(bot, question):
    """An honest word if no character of the question was met in training, else nothing."""
    if not bot.tokenizer.knows_nothing_of(question):
        return ""
    characters = " ".join(bot.tokenizer.unknown_characters(question))
    return f"I never met any of these characters: {characters}  (모두 처음 보는 글자예요)"
