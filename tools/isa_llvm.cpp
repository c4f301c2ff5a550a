// What LLVM's own tables say an instruction reads and writes, for instructions decoded from random words.
// Usage: isa_llvm CPU FEATURES WORDS SEED [MOST of one opcode]     (see isa_llvm.py)
//        isa_llvm CPU FEATURES FILE                                 (raw code: every instruction)
// Each line: opcode, text, registers written, registers read; parts of a register file by their LLVM names.

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrDesc.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace llvm;

// LLVM 22 crashes on some words (SDWA forms of gfx9): the next ones are tried then.
static sigjmp_buf Next;
static void onCrash(int) { siglongjmp(Next, 1); }

static bool isHalf(StringRef Name) { return Name.contains("_LO16") || Name.contains("_HI16"); }

// The 32-bit registers of a set, by name, separated by blanks.
static std::string words(const MCRegisterInfo &Info, const std::set<unsigned> &Registers) {
  std::set<std::string> Names;
  for (unsigned Register : Registers)
    for (MCPhysReg Part : Info.subregs_inclusive(Register)) {
      bool Leaf = Part == Register || !isHalf(Info.getName(Part));
      for (MCPhysReg Inner : Info.subregs(Part))
        Leaf = Leaf && isHalf(Info.getName(Inner));
      if (Leaf)
        Names.insert(Info.getName(Part));
    }
  std::string Out;
  for (const std::string &Name : Names)
    Out += (Out.empty() ? "" : " ") + Name;
  return Out;
}

int main(int Count, char **Arguments) {
  InitializeAllTargetInfos();
  InitializeAllTargetMCs();
  InitializeAllDisassemblers();
  std::string Error;
  Triple Machine("amdgcn-amd-amdhsa");
  const Target *T = TargetRegistry::lookupTarget(Machine, Error);
  MCTargetOptions Options;
  const MCRegisterInfo *Registers = T->createMCRegInfo(Machine);
  const MCAsmInfo *Assembly = T->createMCAsmInfo(*Registers, Machine, Options);
  const MCInstrInfo *Instructions = T->createMCInstrInfo();
  const MCSubtargetInfo *Subtarget = T->createMCSubtargetInfo(Machine, Arguments[1], Arguments[2]);
  MCContext Context(Machine, Assembly, Registers, Subtarget);
  const MCDisassembler *Disassembler = T->createMCDisassembler(*Subtarget, Context);
  MCInstPrinter *Printer =
      T->createMCInstPrinter(Machine, Assembly->getAssemblerDialect(), *Assembly, *Instructions, *Registers);

  std::vector<uint8_t> Code;
  bool Random = Count > 4;
  long Words = Random ? atol(Arguments[3]) : 0, Most = Count > 5 ? atol(Arguments[5]) : 2;
  if (!Random) {
    FILE *File = fopen(Arguments[3], "rb");
    for (int Byte; File && (Byte = fgetc(File)) != EOF;)
      Code.push_back(Byte);
  }
  std::mt19937_64 Generator(Random ? atol(Arguments[4]) : 0);
  static std::map<unsigned, int> Seen;
  struct sigaction Action {};
  Action.sa_handler = onCrash;
  Action.sa_flags = SA_NODEFER;
  for (int Signal : {SIGSEGV, SIGABRT, SIGILL})
    sigaction(Signal, &Action, nullptr);
  static uint64_t At = 0;
  static long Done = 0;
  for (Done = 0; Random ? Done < Words : At < Code.size(); ++Done) {
    uint8_t Bytes[20];
    for (int I = 0; I < 20; I += 4) {
      uint32_t Word = Generator();
      memcpy(Bytes + I, &Word, 4);
    }
    ArrayRef<uint8_t> Here =
        Random ? ArrayRef<uint8_t>(Bytes, 20) : ArrayRef<uint8_t>(Code.data() + At, Code.size() - At);
    if (sigsetjmp(Next, 1)) {
      At += 4;
      continue;
    }
    MCInst Decoded;
    uint64_t Size = 0;
    std::string Comment, Text;
    raw_string_ostream Comments(Comment), Out(Text);
    auto Status = Disassembler->getInstruction(Decoded, Size, Here, 0, Comments);
    if (!Random)
      At += Size ? Size : 4;
    if (Status != MCDisassembler::Success)
      continue;
    Printer->printInst(&Decoded, 0, "", *Subtarget, Out);
    StringRef Shown = StringRef(Text).trim();
    if (Random && (Shown.contains("/*") || Seen[Decoded.getOpcode()]++ >= Most))
      continue;
    const MCInstrDesc &Says = Instructions->get(Decoded.getOpcode());
    std::set<unsigned> Written, Read;
    for (unsigned I = 0; I < Decoded.getNumOperands(); ++I) {
      const MCOperand &Operand = Decoded.getOperand(I);
      if (Operand.isReg() && Operand.getReg())
        (I < Says.getNumDefs() ? Written : Read).insert(Operand.getReg());
    }
    for (unsigned I = 0; I < Says.getNumOperands() && I < Decoded.getNumOperands(); ++I) {
      int Tied = Says.getOperandConstraint(I, MCOI::TIED_TO);
      if (Tied >= 0 && Decoded.getOperand(Tied).isReg())
        Read.insert(Decoded.getOperand(Tied).getReg());
    }
    for (MCPhysReg Register : Says.implicit_defs())
      Written.insert(Register);
    for (MCPhysReg Register : Says.implicit_uses())
      Read.insert(Register);
    printf("%s\t%s\t%s\t%s\n", Instructions->getName(Decoded.getOpcode()).str().c_str(), Shown.str().c_str(),
           words(*Registers, Written).c_str(), words(*Registers, Read).c_str());
  }
}
